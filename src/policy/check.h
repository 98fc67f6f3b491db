#pragma once

#include "redoubt/advanced/ranks.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// check_policy for a subproblem and its policy: what one rank finds wrong is an Error of
// all.
void check_policy(const Problem& problem, const Policy& policy, Communicator& ranks);

}  // namespace redoubt::internal
