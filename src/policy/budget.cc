#include "policy/budget.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace redoubt {
using namespace internal;
namespace {

std::int32_t last_stage(const BudgetAxis& axis) {
  return static_cast<std::int32_t>(axis.cells.size()) - 1;
}

}  // namespace

std::int32_t BudgetAxis::start() const {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(-low[0], 0, cells[0] - 1));
}

BudgetMove move_budget(const BudgetAxis& axis, int stage, std::int32_t cell, double earned) {
  const int here = std::min(stage, last_stage(axis)), there = std::min(stage + 1, last_stage(axis));
  const auto from = axis.low[here] + cell;
  const double top = axis.cells[there] - 1;
  // The new requirement in cells from the bottom of the next stage's window. Without a discount,
  // the whole part and the fraction are kept apart, so that a long episode adds up no rounding
  // errors.
  double whole, part;
  if (axis.discount == 1) {
    const double fall = earned / axis.step;
    const double down = axis.exact ? std::round(fall) : std::floor(fall + kCellNoise);
    whole = static_cast<double>(from - axis.low[there]) - down;
    part = axis.exact
               ? 0.0
               : down - fall;  // in (-1, 0]: the exact requirement is a little lower than `whole`
    if (part < -kCellNoise) whole -= 1, part += 1;
  } else {
    const double requirement =
        (axis.bound + static_cast<double>(from) * axis.step - earned) / axis.discount;
    const double position =
        (requirement - axis.bound) / axis.step - static_cast<double>(axis.low[there]);
    whole = std::floor(position + kCellNoise);
    part = position - whole;
  }
  if (part < kCellNoise) part = 0;
  double loss = 0;
  if (part > 0 && axis.rounding == Rounding::up)
    loss = (1 - part) * axis.step, whole += 1, part = 0;
  if (whole < 0) return {0, 0, loss};
  if (whole >= top) return {static_cast<std::int32_t>(top), 0, loss};
  return {static_cast<std::int32_t>(whole), part, loss};
}

std::int32_t internal::memory_states(std::span<const BudgetAxis> axes, int stage) {
  std::int32_t count = 1;
  for (const BudgetAxis& axis : axes) count *= cells_at(axis, stage);
  return count;
}

void internal::move_budgets(std::span<const BudgetAxis> axes, int stage,
                            std::span<const double> earned, MemoryRange range, BudgetMoves& moves) {
  const std::int32_t count = range.count;
  std::vector<std::vector<BudgetMove>>& moved = moves.moved;
  std::vector<std::int32_t>& cell = moves.cell;
  moved.resize(axes.size());
  std::uint64_t splits = 0;  // a bit for each axis on which some budget falls between two cells
  for (std::size_t a = 0; a < axes.size(); ++a) {
    moved[a].resize(cells_at(axes[a], stage));
    bool any = false;
    for (std::int32_t c = 0; c < cells_at(axes[a], stage); ++c) {
      moved[a][c] = move_budget(axes[a], stage, c, earned[a]);
      any |= moved[a][c].up > 0;
    }
    splits |= std::uint64_t{any} << a;
  }
  moves.corners = 1 << std::popcount(splits);
  moves.memory.assign(static_cast<std::size_t>(count) * moves.corners, 0);
  moves.weight.assign(static_cast<std::size_t>(count) * moves.corners, 1.0);
  moves.loss.assign(static_cast<std::size_t>(count) * axes.size(), 0.0);
  cell.resize(axes.size());
  for (std::int32_t a = static_cast<std::int32_t>(axes.size()), rest = range.first; a-- > 0;) {
    cell[a] = rest % cells_at(axes[a], stage);
    rest /= cells_at(axes[a], stage);
  }
  for (std::int32_t m = 0; m < count; ++m) {
    for (int corner = 0; corner < moves.corners; ++corner) {
      std::int32_t target = 0;
      double weight = 1;
      for (std::size_t a = 0, bit = 0; a < axes.size(); ++a) {
        const BudgetMove& move = moved[a][cell[a]];
        const bool between = splits >> a & 1, up = between && (corner >> bit++ & 1);
        const auto cells_there = cells_at(axes[a], stage + 1);
        target = target * cells_there + std::min(move.cell + (up ? 1 : 0), cells_there - 1);
        if (between) weight *= up ? move.up : 1 - move.up;
      }
      moves.memory[static_cast<std::size_t>(corner) * count + m] = target;
      moves.weight[static_cast<std::size_t>(corner) * count + m] = weight;
    }
    for (std::size_t a = 0; a < axes.size(); ++a)
      moves.loss[a * count + m] = moved[a][cell[a]].loss;
    for (std::size_t a = axes.size(); a-- > 0;) {
      if (++cell[a] < static_cast<std::int32_t>(moved[a].size())) break;
      cell[a] = 0;
    }
  }
}

void internal::earned_on_axes(const Model& model, std::span<const BudgetAxis> axes, Row row,
                              std::int64_t outcome, std::span<double> earned, State landed) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    double value = model.value(axes[a].signal, row);
    if (outcome >= 0)
      value += model.outcome_value(axes[a].signal, model.outcome_begin(row) + outcome);
    else if (landed >= 0)
      value += model.arrival_value(axes[a].signal, landed);
    earned[a] = axes[a].sign * value;
  }
}

bool internal::outcomes_move_budgets(const Model& model, std::span<const BudgetAxis> axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const BudgetAxis& a) { return !model.outcome_values(a.signal).empty(); });
}

bool internal::arrivals_move_budgets(const Model& model, std::span<const BudgetAxis> axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const BudgetAxis& a) { return !model.arrival_values(a.signal).empty(); });
}

}  // namespace redoubt
