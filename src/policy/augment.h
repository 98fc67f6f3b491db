#pragma once

#include "redoubt/chance.h"
#include "redoubt/ranks.h"

namespace redoubt {

// augment for a part of a problem, which gives a part of the augmented one; every rank calls it. A
// rank owns the pairs of its own states.
AugmentedProblem augment(const Problem& problem, Communicator& ranks);

// Bytes that it takes beyond the arrays of its model: those of the original one, and what leads
// back there.
double bytes_beyond_model(const AugmentedProblem& augmented);

}  // namespace redoubt
