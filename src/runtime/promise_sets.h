#pragma once

#include <vector>

#include "bellman/row_evaluator.h"
#include "evaluation/evaluation.h"
#include "policy/memory_update.h"
#include "redoubt/shield.h"

namespace redoubt::internal {

// What can be promised to the constraints at every stage and state, as far as some known policies
// guarantee it: the policy that the shield stands on, and for each constraint the one that is best
// for it. Promises are vectors with one utility for each constraint, in the units of their stage; a
// set holds every mixture of what its points guarantee, and everything below. docs/shield.md proves
// what this file does.
using Promise = std::vector<double>;

// A policy of the known ones in one of its memory states.
struct PromisePoint {
  int guide = 0;
  std::int32_t memory = 0;
  double weight = 1;  // in a mixture
};

// One of the things that may happen after an action was wanted, with its probability: an action,
// and what is promised after each of its outcomes, which is what the mixture of the points promises
// less `slack`, but no less than what every policy has.
struct ShieldBranch {
  double probability = 1;
  std::int32_t action = 0;  // position in the state's list
  std::vector<PromisePoint> mixture;
  std::vector<double> slack;  // of each constraint
};

class PromiseSets {
 public:
  // Evaluates the known policies. Throws Stopped.
  PromiseSets(const Problem& problem, const Policy& policy, const Execution& execution);

  const Problem& problem() const { return problem_; }
  int constraints() const { return static_cast<int>(channels_.size()) - 1; }
  double sign(int constraint) const { return channels_[constraint + 1].sign; }

  // What is promised where an episode begins. Error when none begins there.
  Promise at_start(State state) const;

  // The largest probability with which an action may be taken under a promise.
  double largest(int stage, State state, const Promise& promise, std::int32_t action);

  // What happens when an action is wanted. Probabilities sum to one; the first branch, if its
  // action is the wanted one, is the one in which it passes.
  std::vector<ShieldBranch> propose(int stage, State state, const Promise& promise,
                                    std::int32_t action);

  // What is promised in the next state after outcome `outcome` (their number: a landing outside).
  Promise after(int stage, State state, const ShieldBranch& branch, std::int64_t outcome,
                State next);

 private:
  struct Guide {
    Policy policy;
    EvaluationPass pass;
    double value(int stage, int channel, State state, std::int32_t memory) const;
  };
  struct Candidate {
    PromisePoint point;
    std::vector<double> value;  // of each channel
  };
  // What follows an action: next values of each channel after each outcome, and the least that any
  // policy has there.
  struct Continuation {
    Row row = 0;
    std::vector<std::vector<double>> next;     // [channel][outcome]
    std::vector<std::vector<double>> least;    // [channel][outcome]
    std::vector<std::vector<double>> landing;  // [channel][state outside of the row]
    std::vector<std::vector<double>> least_landing;
  };

  double largest_of_one(int stage, State state, double promise, std::int32_t action);
  void check(const Policy& policy) const;
  void find_start(const Policy& policy);
  bool follows(const Guide& guide, const Decision& d) const;
  std::vector<Candidate> points(int stage, State state) const;
  std::vector<Candidate> candidates(int stage, State state, std::int32_t action,
                                    const Promise& promise);
  std::vector<std::int32_t> nearest(int stage, State state, const Promise& promise) const;
  double next_value(const PromisePoint& point, const Decision& d, std::int64_t outcome, State next,
                    int channel);
  Continuation continuation(int stage, State state, std::int32_t action,
                            const std::vector<PromisePoint>& mixture);
  double worst(const Continuation& c, int channel, double slack);
  std::vector<double> slack_of(const Continuation& c, const std::vector<double>& target);
  ShieldBranch branch(int stage, State state, std::int32_t action,
                      std::vector<PromisePoint> mixture, const std::vector<double>& target,
                      double probability);
  std::vector<ShieldBranch> corrected(int stage, State state, const Promise& promise,
                                      std::int32_t action);

  const Problem& problem_;
  std::vector<Channel> channels_;
  std::vector<double> scale_;  // of each constraint, for rounding
  std::vector<Guide> guides_;  // the policy, then the best one for each constraint
  std::vector<Guide> least_;   // for each constraint, the one that has least of it
  std::vector<Promise> start_;
  RowEvaluator rows_;
  std::vector<MemoryMove> moves_;
};

}  // namespace redoubt::internal
