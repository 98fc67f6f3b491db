#include "solvers/rcvi/budget_lanes.h"

#include <algorithm>
#include <cmath>

#include "parallel/collectives.h"
#include "sets/row.h"

namespace redoubt::internal {

BudgetLanes::BudgetLanes(const Problem& problem, std::span<const BudgetAxis> axes,
                         Communicator& ranks)
    : axes_(axes) {
  const Model& model = problem.model();
  outcomes_move_ = any_rank(ranks, outcomes_move_budgets(model, axes));
  const bool alike = !outcomes_move_ && !any_rank(ranks, arrivals_move_budgets(model, axes));
  by_shift_ = axes.size() == 1 && axes[0].discount == 1 &&
              (axes[0].exact || (axes[0].rounding == Rounding::up && alike));
  if (!by_shift_) return;
  double earned = 0;
  for (Row row = 0; row < model.rows(); ++row) {
    const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
    for (std::int64_t i = -1; i < (outcomes_move_ ? outcomes : 0); ++i) {
      earned_on_axes(model, axes, row, i, {&earned, 1});
      least_earned_ = std::min(least_earned_, earned);
      most_earned_ = std::max(most_earned_, earned);
    }
  }
  least_earned_ = min_over_ranks(ranks, least_earned_);
  most_earned_ = max_over_ranks(ranks, most_earned_);
}

// Lanes of the two stages start at the bottoms of their own windows, so this is what a move of the
// lowest cell would be if there were no window to keep it in. Further out than a whole window there
// is nothing new to see.
std::int64_t BudgetLanes::shift(int stage, double earned) const {
  const BudgetAxis& axis = axes_[0];
  const double fall = earned / axis.step;
  const double down = axis.exact ? std::round(fall) : std::floor(fall + kCellNoise);
  const auto moved = axis.low[stage] - axis.low[stage + 1] - static_cast<std::int64_t>(down);
  return std::clamp<std::int64_t>(moved, -axis.cells[stage], axis.cells[stage + 1]);
}

BudgetLanes::Shape BudgetLanes::at(int stage) const {
  Shape shape;
  for (const BudgetAxis& axis : axes_) shape.lanes *= axis.cells[stage];
  if (by_shift_ && stage > 0) {
    const auto furthest = shift(stage - 1, least_earned_) + axes_[0].cells[stage - 1];
    shape.before = std::max<std::int64_t>(0, -shift(stage - 1, most_earned_));
    shape.after = std::max<std::int64_t>(0, furthest - shape.lanes);
  }
  const auto all = shape.before + shape.lanes + shape.after + kLaneBlock;
  shape.stride = (all + kLaneBlock - 1) / kLaneBlock * kLaneBlock;
  return shape;
}

}  // namespace redoubt::internal
