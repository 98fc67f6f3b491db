#pragma once

#include "parallel/workers.h"
#include "redoubt/chance.h"

namespace redoubt::internal {

// augment for a subproblem, which gives one of the augmented problem; every rank calls it. A
// rank owns the pairs of its own states. What is done with it takes at least `bytes_for_each` state
// of it: where there is no room for that, it is an Error before there is much work. Throws Stopped.
AugmentedProblem augment(const Problem& problem, Workers& workers, double bytes_for_each = 0);

// Bytes that it takes beyond the arrays of its model: those of the original one, and what leads
// back there.
double bytes_beyond_model(const AugmentedProblem& augmented);

}  // namespace redoubt::internal
