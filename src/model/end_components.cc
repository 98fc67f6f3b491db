#include "model/end_components.h"

#include <algorithm>

namespace redoubt::internal {
namespace {

// Strongly connected components of the graph of kept rows, within the components so far. A row that
// lands anywhere leads to all states of its component: over a node that stands for all of them.
class Connected {
 public:
  Connected(const Model& model, const Support& support, const std::vector<char>& kept,
            const std::vector<int>& part, int parts)
      : states_(model.states()), nodes_(states_ + parts) {
    std::vector<std::vector<std::int32_t>> members(parts);
    begin_.push_back(0);
    for (State s = 0; s < states_; ++s) {
      bool anywhere = false;
      if (part[s] >= 0) {
        members[part[s]].push_back(s);
        for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
          if (!kept[row]) continue;
          anywhere |= support.lands_anywhere(row);
          for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
            const State next = model.arrays().next[i];
            if (support.possible(row, i) && part[next] == part[s]) to_.push_back(next);
          }
        }
      }
      if (anywhere) to_.push_back(states_ + part[s]);
      begin_.push_back(static_cast<std::int64_t>(to_.size()));
    }
    for (const auto& list : members) {
      to_.insert(to_.end(), list.begin(), list.end());
      begin_.push_back(static_cast<std::int64_t>(to_.size()));
    }
  }

  // Tarjan's algorithm, with a stack of its own: paths are as long as the model.
  int number(std::vector<int>& part) {
    std::vector<int> index(nodes_, -1), low(nodes_, 0);
    std::vector<char> open(nodes_, 0);
    std::vector<std::int64_t> at(nodes_, 0);
    std::vector<int> found(states_, -1), path, stack;
    int next = 0, count = 0;
    for (State first = 0; first < states_; ++first) {
      if (part[first] < 0 || index[first] >= 0) continue;
      path.push_back(first);
      while (!path.empty()) {
        const int node = path.back();
        if (index[node] < 0) {
          index[node] = low[node] = next++;
          at[node] = begin_[node];
          stack.push_back(node);
          open[node] = 1;
        }
        bool deeper = false;
        for (; at[node] < begin_[node + 1] && !deeper; ++at[node]) {
          const int to = to_[at[node]];
          if (index[to] < 0) {
            path.push_back(to);
            deeper = true;
            --at[node];  // looked at again when it is done
          } else if (open[to]) {
            low[node] = std::min(low[node], low[to]);
          }
        }
        if (deeper) continue;
        path.pop_back();
        if (low[node] != index[node]) continue;
        for (int member = -1; member != node;) {
          member = stack.back();
          stack.pop_back();
          open[member] = 0;
          if (member < states_) found[member] = count;
        }
        ++count;
      }
    }
    part = std::move(found);
    return count;
  }

 private:
  int states_, nodes_;
  std::vector<std::int64_t> begin_;
  std::vector<std::int32_t> to_;
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
      bool any = false;
      for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
        if (!kept[row]) continue;
        kept[row] = keep == Keep::by_some_kernel ? support.may_stay(row, inside)
                                                 : support.stays(row, inside);
        changed |= !kept[row];
        any |= kept[row] != 0;
      }
      if (any) continue;
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

std::vector<State> never_left(const Model& model, const Support& support,
                              const std::vector<char>& use) {
  std::vector<char> kept(model.states(), 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (State s = 0; s < model.states(); ++s) {
      bool stays = model.row_begin(0, s) < model.row_end(0, s);
      for (Row row = model.row_begin(0, s); stays && row < model.row_end(0, s); ++row)
        stays = !use[row] || support.may_stay(row, [&](State to) { return kept[to] != 0; });
      changed |= kept[s] && !stays;
      kept[s] &= static_cast<char>(stays);
    }
  }
  std::vector<State> states;
  for (State s = 0; s < model.states(); ++s)
    if (kept[s]) states.push_back(s);
  return states;
}

SureReach sure_reach(const Model& model, const Support& support, const std::vector<char>& set) {
  const ModelArrays& a = model.arrays();
  const State states = model.states();
  std::vector<std::int64_t> begin(states + 1, 0);  // of the rows that lead to each state
  std::vector<Row> leading(a.next.size());
  std::vector<State> owner(model.rows());
  for (const State next : a.next) ++begin[next + 1];
  for (State s = 0; s < states; ++s) begin[s + 1] += begin[s];
  std::vector<std::int64_t> fill(begin.begin(), begin.end() - 1);
  for (State s = 0; s < states; ++s) {
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
      owner[row] = s;
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        leading[fill[a.next[i]]++] = row;
    }
  }
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
      for (auto n = begin[reached]; n < begin[reached + 1]; ++n) {
        const Row row = leading[n];
        const State s = owner[row];
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
