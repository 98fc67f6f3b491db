#pragma once

#include <string>
#include <vector>

#include "sets/worst_case.h"
#include "support/set_rows.h"

namespace redoubt::testing {
using namespace internal;

// Every set that the library has; every test of sets runs over this list.
const std::vector<Uncertainty>& every_set();
std::string describe(const Uncertainty& set);

// The laws of a worst case, checked for this kernel on this row: the first one that is broken, with
// its numbers, or nothing.
//   radius 0 is the nominal expectation, bit for bit;      adding a constant to all values adds it
//   to the worst case; larger values, larger worst case;                      concave in the
//   values; a larger set has a smaller worst case;                 between the lowest value and the
//   expectation; the minimiser lies in the set and attains the value;   a lane's bits do not depend
//   on the other lanes.
// (A tilt is not a ball: it is neither monotone nor concave.) Tolerance is relative to the spread
// of the values.
std::string broken_law(const Uncertainty& set, WorstCase kernel, const SetRow& row,
                       double tolerance = 1e-9);

}  // namespace redoubt::testing
