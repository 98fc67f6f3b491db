#pragma once

#include "chance/augment.h"
#include "parallel/workers.h"
#include "redoubt/worst_kernel.h"

namespace redoubt::internal {

// The problem with one of its chance constraints and nothing else, augmented: what nature against
// that constraint looks at.
AugmentedProblem augment_one(const Problem& problem, int constraint, Workers& workers);

// An Error where the evaluation of a chance constraint finds no room: for methods that evaluate one
// only in the end. Throws Stopped.
void require_room_for_chance(const Problem& problem, Workers& workers);

// True for a nature that works against a chance constraint.
bool is_chance(const Problem& problem, Nature nature);

// The least probability, over nature's choices, that a policy keeps a chance constraint.
double worst_probability(const Problem& problem, int constraint, const Policy& policy,
                         Workers& workers);

}  // namespace redoubt::internal
