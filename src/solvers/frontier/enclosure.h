#pragma once

#include "parallel/stopwatch.h"
#include "redoubt/frontier.h"
#include "solvers/frontier/search/extremes.h"

namespace redoubt::internal {

// Constraints where rows share factors that nobody sees: a bracket that holds the optimum, not a
// search that closes it.
//
// Weigh the channels, and let one nature play against the weighted sum in place of one against each
// channel: that is no stronger, so the robust optimum of the sum bounds what any policy has of it
// and, by weak duality, the reward under the constraints. Its policy is evaluated as every other,
// against a nature for each channel. The best mixture of the policies found so far, a small linear
// program, has the prices to try next; with one constraint, the price with the least bound is
// sought as well.
//
// A search for policies that see factors takes part. Who sees them can do no less: the bound is one
// here, and the policy that does the same without seeing them is one more, which may join the
// mixture.
//
// `bound`: one that is known already. Throws Stopped; what was evaluated by then is in `best`.
Solution enclose(const Problem& problem, const FrontierOptions& options, const Extremes& extremes,
                 double bound, Stopwatch& watch, Workers& workers, BestPolicy& best);

}  // namespace redoubt::internal
