#pragma once

#include <span>
#include <vector>

#include "evaluation/stage_evaluation.h"
#include "redoubt/evaluate.h"

namespace redoubt::internal {

// The backward pass behind `evaluate`, for callers that want more of it than the totals.
struct EvaluationPass {
  std::vector<Channel> channels;  // the reward, each constraint, and the probability of hopeless
                                  // states for budget policies
  std::vector<std::vector<double>> values;  // of each stage and the one after the last,
                                            // [channel][node]; only the first unless all are kept
  Evaluation evaluation;
  double row_evaluations = 0;

  // The values of a state's memory states at the first stage.
  const double* at_first_stage(const Model& model, const Policy& policy, int channel,
                               State state) const;
};

// What that needs, with no stage kept but the first. (Chance constraints, which are evaluated on a
// larger model, need more.)
MemoryPlan plan_evaluation(const Problem& problem, const Policy& policy, Workers& workers);

// Stages of which the policy has no decisions come from the store. Progress goes to `watch`, where
// this is all that is done. `near`: of each state, about what a policy without memory is worth in
// the first channel when its last stage is followed for ever; empty: nobody knows. Throws Stopped.
EvaluationPass evaluate(const Problem& problem, const Policy& policy, Workers& workers,
                        bool keep_all_stages = false, const StageStore* store = nullptr,
                        Stopwatch* watch = nullptr, std::span<const double> near = {});

// Without what a chance constraint takes, which is unknown then. Throws Stopped.
Evaluation evaluate_expected(const Problem& problem, const Policy& policy, Workers& workers);

// The evaluation in the user's sign, from totals in nature's sign (one for each channel).
Evaluation report(const Problem& problem, const std::vector<double>& totals, Communicator& ranks);

}  // namespace redoubt::internal
