#pragma once

#include "redoubt/execution.h"
#include "redoubt/policy.h"
#include "redoubt/solution.h"

namespace redoubt {

// The same numbers as `evaluate`, by a plain recursion over the nodes that episodes can reach, in
// long double, with a worst case of its own for each set. It shares no lane kernel, no sweep and no
// memory update with the solvers, only the grid on which a chance constraint counts. Slow: for
// checking answers, not for finding them. One thread; throws Stopped when asked to stop.
Evaluation verify(const Problem& problem, const Policy& policy, const Execution& execution = {});

}  // namespace redoubt
