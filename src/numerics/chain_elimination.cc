#include "numerics/chain_elimination.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace redoubt::internal {

void ChainElimination::begin(std::int32_t states) {
  states_ = states;
  entries_ = 0;
  if (static_cast<std::int32_t>(rows_.size()) < states)
    rows_.resize(states), leading_.resize(states);
  for (std::int32_t s = 0; s < states; ++s) rows_[s].clear(), leading_[s].clear();
  gone_.assign(states, 0);
  place_.assign(states, 0);
  leaves_.resize(states);
  x_.resize(states);
}

void ChainElimination::lead(std::int32_t from, std::int32_t to, double probability) {
  std::vector<Entry>& row = rows_[from];
  const auto same =
      std::find_if(row.begin(), row.end(), [&](const Entry& e) { return e.to == to; });
  if (same != row.end()) {
    same->probability += probability;
    return;
  }
  row.push_back({to, probability});
  ++entries_;
  leading_[to].push_back(from);
}

std::int64_t ChainElimination::cost(std::int32_t state) const {
  return static_cast<std::int64_t>(rows_[state].size()) *
         static_cast<std::int64_t>(leading_[state].size());
}

// The states that do lead there, each once.
void ChainElimination::find_leading(std::int32_t state) {
  std::vector<std::int32_t>& list = leading_[state];
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::erase_if(list, [&](std::int32_t from) { return gone_[from] != 0; });
}

// Of a state that goes: what it does once it leaves.
void ChainElimination::normalise(std::int32_t state) {
  double moves = leaves_[state];
  for (const Entry& e : rows_[state]) moves += e.probability;
  for (Entry& e : rows_[state]) e.probability /= moves;
  leaves_[state] /= moves;
  x_[state] /= moves;
}

void ChainElimination::lead_past(std::int32_t from, std::int32_t gone) {
  std::vector<Entry>& row = rows_[from];
  double share = 0;
  for (std::size_t n = 0; n < row.size();) {
    if (row[n].to == gone) {
      share = row[n].probability;
      row[n] = row.back();
      row.pop_back();
    } else {
      place_[row[n].to] = static_cast<std::int32_t>(n) + 1;
      ++n;
    }
  }
  for (const Entry& e : rows_[gone]) {
    if (e.to == from) continue;  // a loop, which normalise divides out
    if (place_[e.to] > 0) {
      row[place_[e.to] - 1].probability += share * e.probability;
      continue;
    }
    row.push_back({e.to, share * e.probability});
    ++entries_;
    place_[e.to] = static_cast<std::int32_t>(row.size());
    leading_[e.to].push_back(from);
  }
  for (const Entry& e : row) place_[e.to] = 0;
  leaves_[from] += share * leaves_[gone];
  x_[from] += share * x_[gone];
}

// The state that makes the fewest new entries goes first, about: costs are looked at again when
// their turn comes.
bool ChainElimination::solve(double most_work, std::int64_t most_entries) {
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> left;
  for (std::int32_t s = 0; s < states_; ++s) left.emplace(cost(s), s);
  std::vector<std::int32_t> order;
  double work = 0;
  while (!left.empty()) {
    const auto [expected, state] = left.top();
    left.pop();
    find_leading(state);
    const std::int64_t now = cost(state);
    work += static_cast<double>(leading_[state].size());
    if (now > expected && !left.empty() && now > left.top().first) {
      left.emplace(now, state);
      continue;
    }
    for (const std::int32_t from : leading_[state])
      work += static_cast<double>(rows_[from].size() + rows_[state].size());
    if (work > most_work || entries_ > most_entries) return false;
    gone_[state] = 1;
    normalise(state);
    for (const std::int32_t from : leading_[state]) lead_past(from, state);
    order.push_back(state);
  }
  std::reverse(order.begin(), order.end());
  for (const std::int32_t state : order)
    for (const Entry& e : rows_[state]) x_[state] += e.probability * x_[e.to];
  return true;
}

}  // namespace redoubt::internal
