#pragma once

#include "redoubt/solve.h"
#include "solvers/savepoint.h"
#include "sweep/row_evaluator.h"
#include "sweep/workers.h"

namespace redoubt {

// Robust value iteration for one channel: the policy with the largest worst-case total, or, with
// `least`, the smallest one that any policy has. Values are worst-case totals in the channel's
// sign.
struct ValueIteration {
  Policy policy;
  std::vector<double> values;  // of each state, at the first stage
  double row_evaluations = 0;
  std::int64_t sweeps = 0;

  double at(const Start& start) const;
};
// Where this is all that a solve does, `solve` gets its progress and its state. Throws Stopped.
ValueIteration value_iteration(const Problem& problem, Channel channel, Workers& workers,
                               bool least = false, Savepoint* solve = nullptr);

// What the best policy earns from the start beyond what the worst one does. Throws Stopped.
double reward_spread(const Problem& problem, Workers& workers);

// The number of stages after which everything that may still follow is below this share of the
// largest total.
int stages_until_negligible(const Problem& problem, double tolerance);

}  // namespace redoubt
