#include "evaluation/verified_traps.h"

#include <algorithm>

namespace redoubt::internal::verified {

bool Traps::inside(const TakenOutcome& outcome, int trap) const {
  return std::all_of(outcome.pays.begin(), outcome.pays.end(),
                     [](Real paid) { return paid == 0; }) &&
         std::all_of(outcome.nodes.begin(), outcome.nodes.end(),
                     [&](const auto& next) { return trap_[next.first] == trap; });
}

bool Traps::kept(const Support& support, const std::vector<TakenRow>& rows, int trap) const {
  if (rows.empty()) return false;
  return std::all_of(rows.begin(), rows.end(), [&](const TakenRow& taken) {
    return support.may_stay(taken.row, [&](State to) {
      return std::all_of(taken.outcomes.begin(), taken.outcomes.end(), [&](const auto& outcome) {
        return outcome.to != to || inside(outcome, trap);
      });
    });
  });
}

// Into parts that lead to each other: what a node leads to and what leads to it, of one after the
// other.
void Traps::split(const std::vector<std::vector<TakenRow>>& taken, int& count) {
  const std::vector<int> before = trap_;
  std::vector<std::vector<int>> next(taken.size()), last(taken.size());
  for (std::size_t n = 0; n < taken.size(); ++n) {
    if (before[n] < 0) continue;
    for (const TakenRow& row : taken[n])
      for (const TakenOutcome& outcome : row.outcomes)
        for (const auto& [to, weight] : outcome.nodes)
          if (inside(outcome, before[n])) {
            next[n].push_back(to);
            last[to].push_back(static_cast<int>(n));
          }
  }
  const auto reached = [&](int from, const std::vector<std::vector<int>>& graph) {
    std::vector<char> seen(taken.size(), 0);
    std::vector<int> open = {from};
    seen[from] = 1;
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int to : graph[node])
        if (!seen[to]) seen[to] = 1, open.push_back(to);
    }
    return seen;
  };
  std::vector<char> done(taken.size(), 0);
  for (std::size_t n = 0; n < taken.size(); ++n) {
    if (before[n] < 0 || done[n]) continue;
    const auto ahead = reached(static_cast<int>(n), next),
               behind = reached(static_cast<int>(n), last);
    for (std::size_t m = 0; m < taken.size(); ++m)
      if (ahead[m] && behind[m]) trap_[m] = count, done[m] = 1;
    ++count;
  }
}

Traps::Traps(const Problem& problem, const std::vector<std::vector<TakenRow>>& taken)
    : trap_(taken.size(), 0) {
  const Support support(problem.model(), problem.uncertainty());
  int count = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 0; n < taken.size(); ++n) {
      if (trap_[n] < 0 || kept(support, taken[n], trap_[n])) continue;
      trap_[n] = -1;
      changed = true;
    }
    if (!changed) {
      const std::vector<int> before = trap_;
      split(taken, count);
      std::map<int, int> as;  // a part that was split has two names now
      for (std::size_t n = 0; n < taken.size(); ++n)
        if (before[n] >= 0) changed |= as.emplace(before[n], trap_[n]).first->second != trap_[n];
    }
  }
  for (std::size_t n = 0; n < taken.size(); ++n) {
    if (trap_[n] < 0) continue;
    std::vector<TakenOutcome>& ways = ways_[trap_[n]];
    for (const TakenRow& row : taken[n])
      for (const TakenOutcome& outcome : row.outcomes)
        if ((outcome.place < 0 || support.possible(row.row, outcome.place)) &&
            !inside(outcome, trap_[n]))
          ways.push_back(outcome);
  }
}

}  // namespace redoubt::internal::verified
