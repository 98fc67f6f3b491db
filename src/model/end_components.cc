#include "model/end_components.h"

#include <algorithm>
#include <span>

#include "model/strong_components.h"
#include "support/grouped.h"

namespace redoubt::internal {
namespace {

// Strongly connected components of the graph of kept rows, within the components so far. A row that
// lands anywhere leads to all states of its component: over a node that stands for all of them.
class Connected {
 public:
  Connected(const Model& model, const Support& support, const std::vector<char>& kept,
            const std::vector<int>& part, int parts)
      : states_(model.states()) {
    bool any = false;
    begin_.push_back(0);
    for (State s = 0; s < states_; ++s) {
      bool anywhere = false;
      for (Row row = model.row_begin(0, s); part[s] >= 0 && row < model.row_end(0, s); ++row) {
        if (!kept[row]) continue;
        anywhere |= support.lands_anywhere(row);
        for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
          const State next = model.arrays().next[i];
          if (part[next] == part[s] && support.possible(row, i)) to_.push_back(next);
        }
      }
      if (anywhere) to_.push_back(states_ + part[s]);
      any |= anywhere;
      begin_.push_back(static_cast<std::int64_t>(to_.size()));
    }
    if (!any) return;
    std::vector<std::vector<std::int32_t>> members(parts);
    for (State s = 0; s < states_; ++s)
      if (part[s] >= 0) members[part[s]].push_back(s);
    for (const auto& list : members) {
      to_.insert(to_.end(), list.begin(), list.end());
      begin_.push_back(static_cast<std::int64_t>(to_.size()));
    }
  }

  // The components of the states that had one, numbered anew; how many there are.
  int number(std::vector<int>& part) const {
    const StrongComponents found = strong_components(begin_, to_);
    std::vector<int> number(found.count(), -1);
    int count = 0;
    for (State s = 0; s < states_; ++s) {
      if (part[s] < 0) continue;
      int& here = number[found.of_node[s]];
      if (here < 0) here = count++;
      part[s] = here;
    }
    return count;
  }

 private:
  int states_;
  std::vector<std::int64_t> begin_;
  std::vector<std::int32_t> to_;
};

// The rows that list each state as an outcome.
class LeadingRows {
 public:
  explicit LeadingRows(const Model& model) : owner_(model.rows()) {
    rows_ = grouped<Row>(model.states(), [&](auto visit) {
      for (Row row = 0; row < model.rows(); ++row)
        for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
          visit(model.arrays().next[i], row);
    });
    for (State s = 0; s < model.states(); ++s)
      for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) owner_[row] = s;
  }
  std::span<const Row> to(State s) const { return rows_[s]; }
  State owner(Row row) const { return owner_[row]; }

 private:
  Grouped<Row> rows_;
  std::vector<State> owner_;
};

}  // namespace

EndComponents end_components(const Model& model, const Support& support, Keep keep,
                             const std::vector<char>& use) {
  std::vector<int> part(model.states(), 0);
  std::vector<char> kept = use;
  int parts = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (State s = 0; s < model.states(); ++s) {
      if (part[s] < 0) continue;
      const auto inside = [&](State to) { return part[to] == part[s]; };
      bool any = false, all = true;
      for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
        if (!kept[row]) continue;
        kept[row] = keep == Keep::by_every_kernel ? support.stays(row, inside)
                                                  : support.may_stay(row, inside);
        changed |= !kept[row];
        any |= kept[row] != 0;
        all &= kept[row] != 0;
      }
      if (any && (all || keep != Keep::each_by_some_kernel)) continue;
      for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) kept[row] = 0;
      part[s] = -1;  // rows that lead here are looked at again
      changed = true;
    }
    const int before = parts;
    parts = Connected(model, support, kept, part, parts).number(part);
    changed |= parts != before;
  }
  EndComponents found;
  found.of_state.assign(model.states(), -1);
  std::vector<int> number(parts, -1);
  for (State s = 0; s < model.states(); ++s) {
    if (part[s] < 0) continue;
    int& mine = number[part[s]];
    if (mine < 0) {
      mine = static_cast<int>(found.states.size());
      found.states.emplace_back();
      found.rows.emplace_back();
    }
    found.of_state[s] = mine;
    found.states[mine].push_back(s);
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row)
      if (kept[row]) found.rows[mine].push_back(row);
  }
  return found;
}

// Where an episode can be kept for ever it comes to an end component: states are left out that have
// no row which can be kept among the others.
bool has_end_component(const Model& model, const Support& support, const std::vector<char>& use) {
  const LeadingRows leading(model);
  std::vector<char> kept(model.states(), 1), kept_row = use;
  std::vector<std::int64_t> rows(model.states(), 0);  // that are kept
  std::vector<State> left;                            // whose leading rows must still be looked at
  for (State s = 0; s < model.states(); ++s) {
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row)
      rows[s] += use[row] != 0;
    if (rows[s] == 0) kept[s] = 0, left.push_back(s);
  }
  std::size_t count = model.states() - left.size();
  while (!left.empty()) {
    const State reached = left.back();
    left.pop_back();
    for (const Row row : leading.to(reached)) {
      const State s = leading.owner(row);
      if (!kept_row[row] || support.may_stay(row, [&](State to) { return kept[to] != 0; }))
        continue;
      kept_row[row] = 0;
      if (--rows[s] > 0) continue;
      kept[s] = 0;
      left.push_back(s);
      --count;
    }
  }
  return count > 0;
}

std::vector<State> never_left(const Model& model, const Support& support,
                              const std::vector<char>& use) {
  const LeadingRows leading(model);
  std::vector<char> kept(model.states(), 1);
  std::vector<State> left;  // whose leading rows must still be looked at
  const auto leave = [&](State s) {
    kept[s] = 0;
    left.push_back(s);
  };
  for (State s = 0; s < model.states(); ++s)
    if (model.row_begin(0, s) == model.row_end(0, s)) leave(s);
  while (!left.empty()) {
    const State reached = left.back();
    left.pop_back();
    for (const Row row : leading.to(reached)) {
      const State s = leading.owner(row);
      if (kept[s] && use[row] && !support.may_stay(row, [&](State to) { return kept[to] != 0; }))
        leave(s);
    }
  }
  std::vector<State> states;
  for (State s = 0; s < model.states(); ++s)
    if (kept[s]) states.push_back(s);
  return states;
}

SureReach sure_reach(const Model& model, const Support& support, const std::vector<char>& set) {
  const State states = model.states();
  const LeadingRows leading(model);
  // The largest set from which the goal can be reached without leaving it.
  SureReach found{std::vector<char>(states, 1), {}};
  for (;;) {
    std::vector<char> near = set;
    found.row.assign(states, -1);
    std::vector<State> open;
    for (State s = 0; s < states; ++s)
      if (set[s]) open.push_back(s);
    const auto sure = [&](State s) { return found.sure[s] != 0; };
    const auto met = [&](State s) { return near[s] != 0; };
    while (!open.empty()) {
      const State reached = open.back();
      open.pop_back();
      for (const Row row : leading.to(reached)) {
        const State s = leading.owner(row);
        if (near[s] || !found.sure[s]) continue;
        const bool safe =
            support.lands_anywhere(row)
                ? std::all_of(found.sure.begin(), found.sure.end(), [](char is) { return is != 0; })
                : support.stays(row, sure);
        if (!safe || !support.must_meet(row, met)) continue;
        near[s] = 1;
        found.row[s] = row;
        open.push_back(s);
      }
    }
    if (near == found.sure) return found;
    found.sure = std::move(near);
  }
}

}  // namespace redoubt::internal
