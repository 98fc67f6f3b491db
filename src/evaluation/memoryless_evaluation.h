#pragma once

#include <vector>

#include "evaluation/stationary.h"

namespace redoubt::internal {

// True when a policy remembers nothing: what it does depends on the stage and the state alone.
bool is_memoryless(const Policy& policy);

// Backward stages of evaluating such a policy, for several channels. Values are laid out
// [channel][state].
class MemorylessEvaluation {
 public:
  MemorylessEvaluation(const Problem& problem, const Policy& policy,
                       const std::vector<Channel>& channels, Workers& workers, Exchange& exchange);

  // values = worst case of following the policy from this stage, given what the next one is worth.
  void run(int stage, const std::vector<double>& next, std::vector<double>& values);

  // The values of following this stage for ever, from values that may be near. Not for `tilt`.
  void reach_fixed_point(int stage, std::vector<double>& values);

  double evaluations() const { return sweep_.evaluations() + evaluations_; }  // of this rank
  // Needed beside the values of two stages.
  double bytes() const;

 private:
  void find_taken(int stage);
  void follow_to_the_end(std::vector<double>& values);

  const Policy* policy_;
  const std::vector<Channel>* channels_;
  TakenSweep sweep_;
  TakenRows taken_;
  double evaluations_ = 0;
  int decisions_ = -1;  // which of the policy's stages `taken_` is of
};

}  // namespace redoubt::internal
