#pragma once

#include "redoubt/policy.h"

namespace redoubt::internal {

// On a problem with factors: a policy that does not know which factor was drawn, and otherwise does
// what this one does. Where memory depends on the factor, it is drawn as if every factor had its
// nominal probability, given the state that was come to: without uncertainty the totals are the
// same. Policies that never look at factors stay as they are.
Policy without_factors(const Problem& problem, const Policy& policy);

}  // namespace redoubt::internal
