#pragma once

#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {

// The largest worst-case total of a problem that traps(), whatever its sign. From above by kernels:
// no policy has more than the best one has against one kernel of the set, which is a question
// without nature. Rows of the kernel change where another distribution is clearly worse, given what
// states are worth against the kernel at hand. From below by the policy that is found.
ValueIteration most_by_kernels(const Problem& problem, Channel channel, Workers& workers);

// The least that policy and nature together can make of it; without a policy.
ValueIteration least_with_traps(const Problem& problem, Channel channel, Workers& workers);

}  // namespace redoubt::internal
