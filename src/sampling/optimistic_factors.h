#pragma once

#include "sampling/two_sides.h"

namespace redoubt::internal {

// The optimistic problem where rows mix factors: the policy picks a corner of a factor's intervals
// when it is in the factor. Seeing which factor was drawn is one more thing that it can do there.
OptimisticProblem optimistic_factors(const KnownRows& known, const Terms& terms);

}  // namespace redoubt::internal
