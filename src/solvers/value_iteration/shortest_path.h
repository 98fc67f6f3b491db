#pragma once

#include "evaluation/taken_rows.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {

// Value iteration for an undiscounted problem: totals until episodes end, with bounds that prove
// themselves (UntilEnd). Where the problem is improper, policies that never come to an end lose for
// ever, so that the best one does come to one, or nature can trap them. Throws Stopped.
ValueIteration shortest_path(const Problem& problem, Channel channel, Workers& workers, bool least);

// The roads for a problem that traps(): nature can keep an episode for ever, where it earns
// nothing.
//
// The largest worst-case total, by policy iteration, where nothing is ever taken from it: a policy
// is worth nothing where nature can trap it, and has one value elsewhere. The bound from above
// proves itself.
ValueIteration most_despite_traps(const Problem& problem, Channel channel, Workers& workers);
// The same whatever its sign. From above by kernels: no policy has more than the best one has
// against one kernel of the set, which is a question without nature. Rows of the kernel change
// where another distribution is clearly worse, given what states are worth against the kernel at
// hand. From below by the policy that is found.
ValueIteration most_by_kernels(const Problem& problem, Channel channel, Workers& workers);
// The least that policy and nature together can make of it; without a policy.
ValueIteration least_with_traps(const Problem& problem, Channel channel, Workers& workers);

// The first action of each state; -1: it is terminal.
std::vector<std::int32_t> first_actions(const Model& model);
// The rows of all own states.
TakenRows all_rows(const Model& model);

// Needed beside the model and the values.
double bytes_of_shortest_path(const Problem& problem);

}  // namespace redoubt::internal
