#pragma once

#include <cstdint>
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

// What a ReferenceRow has as its radius.
long double reference_radius(const Uncertainty& set, std::int64_t row);

// The worst case of a row by other means than the lane kernels: sorting, exhaustive scans and
// bisection. Slow; `verify` and the tests compare the lane kernels with it.
long double reference_worst_case(const Uncertainty& set, const ReferenceRow& row);

// A state whose rows share one radius: a row for each action (its own radius says nothing), with
// values that are times the probability of the action.
struct ReferenceState {
  std::vector<ReferenceRow> rows;
  long double radius = 0;
};

// The least sum over the rows of P.value, where their distances add up to at most the radius. For
// tv, chi2 and kl.
long double reference_worst_case(const Uncertainty& set, const ReferenceState& state);

}  // namespace redoubt::internal
