#pragma once

#include "parallel/stopwatch.h"
#include "redoubt/frontier.h"
#include "solvers/frontier/search/extremes.h"

namespace redoubt::internal {

// Constraints where rows share factors that nobody sees: a bracket that holds the optimum, not a
// search that closes it.
//
// It begins with the bracket of memoryless policies (search/memoryless_bracket.h). A search for
// policies that see factors takes part. Who sees them can do no less: the bound is one here, and
// the policy that does the same without seeing them is one more, which may join the mixture.
//
// `bound`: one that is known already. Throws Stopped; what was evaluated by then is in `best`.
Solution enclose(const Problem& problem, const FrontierOptions& options, const Extremes& extremes,
                 double bound, Stopwatch& watch, Workers& workers, BestPolicy& best);

}  // namespace redoubt::internal
