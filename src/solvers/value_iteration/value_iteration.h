#pragma once

#include "bellman/row_evaluator.h"
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

}  // namespace redoubt::internal
