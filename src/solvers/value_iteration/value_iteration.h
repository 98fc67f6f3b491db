#pragma once

#include "bellman/row_evaluator.h"
#include "evaluation/taken_rows.h"
#include "parallel/workers.h"
#include "redoubt/solve.h"
#include "solvers/solver_checkpoint.h"

namespace redoubt::internal {

// Robust value iteration for one channel: the policy with the largest worst-case total, or, with
// `least`, the smallest one that any policy has. Values are worst-case totals in the channel's
// sign.
struct ValueIteration {
  Policy policy;
  std::vector<double> values;  // of each state, at the first stage
  double row_evaluations = 0;
  std::int64_t sweeps = 0;  // over all rows
  double error = 0;         // of the values, at most: an infinite horizon has no last sweep
  double scale = 0;         // of an infinite horizon: the largest size of a value
  // The values are those of following the policy, to the bit: each is the worst case of the row
  // that is taken, given those of the next stage. That is how policies are evaluated.
  bool evaluated = false;

  double at(const Start& start) const;
};
// Where this is all that a solve does, `solve` gets its progress and its state. The values of an
// infinite horizon are within the tolerance, relative to the one at the start and never to less
// than a thousandth of the largest, or as close as rounding allows. Throws Stopped.
ValueIteration value_iteration(const Problem& problem, Channel channel, Workers& workers,
                               bool least = false, SolverCheckpoint* solve = nullptr,
                               double tolerance = 1e-12);

// What the best policy earns from the start beyond what the worst one does. Throws Stopped.
double reward_spread(const Problem& problem, Workers& workers);

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
