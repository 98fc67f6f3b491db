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
  void collect(const Policy::Stage& stage, std::int64_t first, MemoryRange range, int actions);

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
