#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

}  // namespace redoubt::internal::verified
