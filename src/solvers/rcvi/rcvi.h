#pragma once

#include <span>

#include "parallel/workers.h"
#include "redoubt/solve.h"

namespace redoubt::internal {

// rcvi of a problem without chance constraints, evaluated; steps[c] is the budget step of
// constraint c. Throws Stopped: the solution then has the trace so far, and no answer.
void solve_rcvi(const Problem& problem, const RcviOptions& options, std::span<const double> steps,
                const Execution& execution, Stopwatch& watch, Workers& workers, Solution& solution);

}  // namespace redoubt::internal
