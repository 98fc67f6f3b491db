#pragma once

#include <optional>
#include <vector>

#include "redoubt/uncertainty.h"

namespace redoubt::internal {

// One row and one vector of values, in long double.
struct ReferenceRow {
  std::vector<long double> probability, value;
  std::vector<long double> lower, upper;  // interval only
  long double radius = 0;                 // the temperature for tilt
  std::optional<long double> floor = {};  // value of the worst landing
};

// The worst case of a row by other means than the lane kernels: sorting, exhaustive scans and
// bisection. Slow; `verify` and the tests compare the lane kernels with it.
long double reference_worst_case(const Uncertainty& set, const ReferenceRow& row);

}  // namespace redoubt::internal
