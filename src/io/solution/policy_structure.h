#pragma once

#include "redoubt/policy.h"

namespace redoubt::internal::io {

// Throws an Error unless every index inside the policy points to something inside the policy. What
// depends on a problem is checked by check_policy.
void check_structure(const Policy& policy);

// The same for one of its stages, or what that has of so many states.
void check_structure(const Policy::Stage& stage, State states, int h);

}  // namespace redoubt::internal::io
