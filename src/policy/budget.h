#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "redoubt/policy.h"

namespace redoubt::internal {

// Distances below this share of a cell are rounding errors of the input, not distances.
inline constexpr double kCellNoise = 1e-7;

// Memory states first .. first + count - 1 of a stage: one constraint's are handled all at once,
// the many of several constraints in blocks that fit into a cache.
struct MemoryRange {
  std::int32_t first = 0, count = 0;
};
inline constexpr std::int32_t kMemoryBlock = 1024;

// The memory moves of a budget policy for a range of memory states, after a step that earned a
// given amount on each axis. A memory state has `corners` possible successors; weights are the same
// for every memory state when the grid moves as a whole. `m` counts from the start of the range.
struct BudgetMoves {
  int corners = 1;
  std::vector<std::int32_t> memory;  // memory[corner * range.count + m]
  std::vector<double> weight;        // likewise
  std::vector<double>
      loss;  // loss[axis * range.count + m]: what rounding up added to the requirement
  // Room for the work: how the cells of each axis move, and the cell of a memory state on each.
  std::vector<std::vector<BudgetMove>> moved;
  std::vector<std::int32_t> cell;
};

// Cells of an axis at a stage; the last ones are used for ever.
inline std::int32_t cells_at(const BudgetAxis& axis, int stage) {
  return axis.cells[std::min(stage, static_cast<int>(axis.cells.size()) - 1)];
}

std::int32_t memory_states(std::span<const BudgetAxis> axes, int stage);  // product of the cells

// `earned[axis]` is in the sign of a utility. Overwrites `moves`, reusing its memory.
void move_budgets(std::span<const BudgetAxis> axes, int stage, std::span<const double> earned,
                  MemoryRange range, BudgetMoves& moves);

// What a row, or one of its outcomes (>= 0, counted from the start of the row), earns on each axis;
// or the row and an arrival in state `landed` (>= 0) that it does not list.
void earned_on_axes(const Model& model, std::span<const BudgetAxis> axes, Row row,
                    std::int64_t outcome, std::span<double> earned, State landed = -1);

// True when some outcome of the model earns on one of the axes, so that outcomes of one row move
// the budget differently.
bool outcomes_move_budgets(const Model& model, std::span<const BudgetAxis> axes);
// The same for arrivals outside of a row, by their states.
bool arrivals_move_budgets(const Model& model, std::span<const BudgetAxis> axes);

}  // namespace redoubt::internal
