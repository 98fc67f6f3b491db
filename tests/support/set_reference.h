#pragma once

#include "redoubt/uncertainty.h"
#include "support/set_rows.h"

namespace redoubt::testing {

// The worst case of one lane by the long-double reference of sets/reference.h.
long double reference_worst_case(const Uncertainty& set, const SetRow& row, int lane);

// True unless the lane is within rounding of a kink: probabilities below 1e-13, a radius below
// 1e-9, or one within 1e-6 of where all mass fits on the lowest value.
bool is_benign(const Uncertainty& set, const SetRow& row, int lane);

// What an error is measured against: the spread of the values, or where they are large and close,
// their rounding.
double error_unit(const SetRow& row, int lane);

}  // namespace redoubt::testing
