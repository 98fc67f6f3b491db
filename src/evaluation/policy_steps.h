#pragma once

#include "parallel/workers.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// What has the place of a discount for one policy that follows its last stage for ever, in a
// problem without one: that of the problem, unless some policies never come to an end (see
// bellman/steps.h). Then an Error where this one may not.
double contraction_of(const Problem& problem, const Policy& policy, int stage, Workers& workers);

}  // namespace redoubt::internal
