#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "evaluation/satisfied.h"
#include "redoubt/policy.h"

// The grid of a remaining budget as `verify` sees it, in long double, with no code of the solvers.
namespace redoubt::internal::verified {

using Real = long double;
using Mixture = std::vector<std::pair<std::int32_t, Real>>;

inline constexpr Real kInputNoise = 1e-7L;  // of a cell: rounding errors of the input

inline std::int32_t cells(const BudgetAxis& axis, int h) {
  return h < static_cast<int>(axis.cells.size()) ? axis.cells[h] : axis.cells.back();
}
inline std::int64_t low(const BudgetAxis& axis, int h) {
  return h < static_cast<int>(axis.low.size()) ? axis.low[h] : axis.low.back();
}

// A place between two of `count` cells, as cells with their probabilities.
inline Mixture on_grid(const BudgetAxis& axis, Real place, std::int32_t count) {
  const auto keep = [&](Real cell) {
    return static_cast<std::int32_t>(std::clamp<Real>(cell, 0, count - 1));
  };
  if (std::abs(place - std::round(place)) <= kInputNoise) return {{keep(std::round(place)), 1}};
  if (axis.rounding == Rounding::up) return {{keep(std::ceil(place)), 1}};
  const Real up = place - std::floor(place);
  return {{keep(std::floor(place)), 1 - up}, {keep(std::ceil(place)), up}};
}

// c' = (c - earned) / discount on every axis, kept on the grid of the next stage. Earned: what a
// step earns of a signal.
template <class Earned>
Mixture remaining_budget(const Policy& policy, int h, std::int32_t memory, Earned earned) {
  Mixture mixture = {{0, 1}};
  std::int32_t inner = 1;
  for (const BudgetAxis& axis : policy.budget) inner *= cells(axis, h);
  for (const BudgetAxis& axis : policy.budget) {
    inner /= cells(axis, h);
    const std::int32_t cell = memory / inner % cells(axis, h);
    const Real before = axis.bound + Real(low(axis, h) + cell) * axis.step;
    const Real after = (before - Real{axis.sign} * earned(axis.signal)) / axis.discount;
    const Real place = (after - axis.bound) / axis.step - Real(low(axis, h + 1));
    Mixture wider;
    for (const auto& [known, weight] : mixture) {
      for (const auto& [to, share] : on_grid(axis, place, cells(axis, h + 1)))
        wider.push_back({known * cells(axis, h + 1) + to, weight * share});
    }
    mixture = std::move(wider);
  }
  return mixture;
}

// How many steps of the grid above the bound are owed after something was earned, rounded against
// the policy.
inline std::int64_t still_owed(const BudgetAxis& axis, std::int64_t owed, Real earned,
                               Real discount) {
  const Real before = axis.bound + Real(owed) * axis.step;
  const Real after = (before - Real{axis.sign} * earned) / discount;
  const Real place = (after - axis.bound) / axis.step;
  return std::llround(std::ceil(place - kInputNoise));
}

// Whether what a policy guarantees falls short of a requirement that it remembers.
inline bool misses_budget(const Policy& policy, int h, std::int32_t memory,
                          const std::vector<Real>& guaranteed) {
  std::int32_t inner = 1;
  for (const BudgetAxis& axis : policy.budget) inner *= cells(axis, h);
  for (const BudgetAxis& axis : policy.budget) {
    if (h >= static_cast<int>(axis.cells.size()) - 1) return false;  // beyond the cut
    inner /= cells(axis, h);
    const std::int32_t cell = memory / inner % cells(axis, h);
    const Real required = axis.bound + Real(low(axis, h) + cell) * axis.step - axis.slack[h];
    if (guaranteed[1 + axis.constraint] <
        required - kSatisfied * std::max<Real>(axis.size(), std::abs(required)))
      return true;
  }
  return false;
}

}  // namespace redoubt::internal::verified
