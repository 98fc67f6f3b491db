#pragma once

#include <cstdint>
#include <span>

#include "policy/budget.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// How the values of a state lie in memory: one lane for each cell of the budget grid. Where every
// move of the budget is a whole number of cells, the same for all of them, a move is a shift of the
// lanes, and what a shift may reach stands before and after them.
class BudgetLanes {
 public:
  BudgetLanes(const Problem& problem, std::span<const BudgetAxis> axes, Communicator& ranks);

  struct Shape {
    std::int64_t lanes = 1, before = 0, after = 0;
    std::int64_t stride = 0;  // doubles for all of them, and room to read a block from any lane
  };
  Shape at(int stage) const;

  bool by_shift() const { return by_shift_; }
  bool outcomes_move() const { return outcomes_move_; }

  // How many lanes further the next stage's value stands, for a step that earned this much.
  std::int64_t shift(int stage, double earned) const;

 private:
  std::span<const BudgetAxis> axes_;
  bool by_shift_ = false, outcomes_move_ = false;
  double least_earned_ = 0, most_earned_ = 0;
};

}  // namespace redoubt::internal
