#pragma once

#include "redoubt/execution.h"
#include "redoubt/policy.h"
#include "redoubt/solution.h"

namespace redoubt {

// The same numbers as `evaluate`, by another road: a plain recursion over the (stage, state,
// memory) that episodes can come to, in long double, with a worst case of its own for each set. It
// shares no kernel, no sweep and no budget arithmetic with the solvers. Slow: for checking answers,
// not for finding them. One thread; throws Stopped when asked to stop.
Evaluation verify(const Problem& problem, const Policy& policy, const Execution& execution = {});

}  // namespace redoubt
