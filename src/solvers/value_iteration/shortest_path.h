#pragma once

#include "evaluation/taken_rows.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {

// Value iteration for an undiscounted problem: totals until episodes end, with bounds that prove
// themselves (UntilEnd). Where the problem is improper, policies that never come to an end lose for
// ever, so that the best one does come to one, or nature can trap them. Throws Stopped.
ValueIteration shortest_path(const Problem& problem, Channel channel, Workers& workers, bool least);

// The rows of all own states.
TakenRows all_rows(const Model& model);

// Needed beside the model and the values.
double bytes_of_shortest_path(const Problem& problem);

}  // namespace redoubt::internal
