#pragma once

#include <optional>

#include "parallel/stopwatch.h"
#include "redoubt/frontier.h"
#include "solvers/frontier/search/extremes.h"

// Answers of the frontier method that need no search.
namespace redoubt::internal {

// Where one constraint is out of reach on its own: infeasible. Where the policy that is best for
// the reward keeps every constraint: certified, unless the whole curve was asked for. None
// otherwise. Throws Stopped.
std::optional<Solution> answer_at_once(const Problem& problem, const FrontierOptions& options,
                                       const Extremes& extremes, Stopwatch& watch,
                                       Workers& workers);

// Where no policy keeps all constraints, which has been proved: the policy that is best for the one
// that the others break most. Throws Stopped.
Solution infeasible_answer(const Problem& problem, const Extremes& extremes, Stopwatch& watch,
                           Workers& workers);

// The whole answer where nothing is uncertain (set none), or where some policies never come to an
// end: a mixture of a few memoryless policies.
Solution solve_by_columns(const Problem& problem, const FrontierOptions& options,
                          const Execution& execution);

}  // namespace redoubt::internal
