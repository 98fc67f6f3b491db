#pragma once

#include <span>
#include <vector>

#include "policy/budget.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// Which memory states of a state take which action, as lists one after the other for each action.
class LanesByAction {
 public:
  // Of the range of memory states of a state with this many actions; `first` is the node of its
  // first memory state.
  void collect(const Policy::Stage& stage, std::int64_t first, MemoryRange range, int actions) {
    if (actions == 0) range.count = 0;  // terminal: whatever is stored there, nothing is taken
    const auto begin = first + range.first, end = begin + range.count;
    begin_.assign(actions + 2, 0);  // of action a at a + 2 while they are counted
    for (auto node = begin; node < end; ++node) {
      for_each_choice(stage, node, [&](std::int32_t action, double weight) {
        if (weight > 0) ++begin_[action + 2];
      });
    }
    for (int a = 2; a <= actions + 1; ++a) begin_[a] += begin_[a - 1];
    lanes_.resize(begin_.back());
    weight_.resize(begin_.back());
    choice_.resize(begin_.back());
    for (auto node = begin; node < end; ++node) {
      auto position = stage.mixed.empty() ? stage.choice_begin[node] : node;
      for_each_choice(stage, node, [&](std::int32_t action, double weight) {
        if (weight > 0) {
          const auto at = begin_[action + 1]++;
          lanes_[at] = static_cast<std::int32_t>(node - first);
          weight_[at] = weight;
          choice_[at] = position;
        }
        ++position;
      });
    }
  }

  bool empty(int action) const { return begin_[action] == begin_[action + 1]; }
  // The memory states; with which probability; and the position of that choice in the policy's
  // list.
  std::span<const std::int32_t> lanes(int action) const { return list(lanes_, action); }
  std::span<const double> weight(int action) const { return list(weight_, action); }
  std::span<const std::int64_t> choice(int action) const { return list(choice_, action); }

 private:
  template <class Value>
  std::span<const Value> list(const std::vector<Value>& values, int action) const {
    return std::span(values).subspan(begin_[action], begin_[action + 1] - begin_[action]);
  }

  std::vector<std::size_t> begin_;  // of each action, and the end
  std::vector<std::int32_t> lanes_;
  std::vector<double> weight_;
  std::vector<std::int64_t> choice_;
};

}  // namespace redoubt::internal
