#pragma once

#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {

// Value iteration for a problem that is improper: policies that never come to an end lose reward
// for ever, so that the best of them does come to one. Policy iteration from a policy that comes to
// an end with certainty; a policy that is better in no state and worse in some never follows, and
// one that stays for ever would be worse without bound. The bound from above proves itself: no
// sweep over all rows raises it anywhere. Throws Stopped.
ValueIteration shortest_path(const Problem& problem, Channel channel, Workers& workers);

}  // namespace redoubt::internal
