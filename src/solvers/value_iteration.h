#pragma once

#include "redoubt/solve.h"
#include "sweep/row_evaluator.h"
#include "sweep/workers.h"

namespace redoubt {

// Robust value iteration for one channel: the policy with the largest worst-case total, or, with
// `least`, the smallest one that any policy has. Values are worst-case totals in the channel's
// sign.
struct ValueIteration {
  Policy policy;
  std::vector<std::vector<double>> values;  // of each state, for each stage and the end; only one
                                            // stage when the horizon is infinite
  double row_evaluations = 0;
  std::int64_t sweeps = 0;
  bool stopped = false;

  double at(const Start& start) const;
};
ValueIteration value_iteration(const Problem& problem, Channel channel, Workers& workers,
                               const Execution& execution = {}, bool least = false);

// The number of stages after which everything that may still follow is below this share of the
// largest total.
int stages_until_negligible(const Problem& problem, double tolerance);

}  // namespace redoubt
