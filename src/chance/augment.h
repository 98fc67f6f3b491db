#pragma once

#include <vector>

#include "parallel/workers.h"
#include "redoubt/chance.h"

namespace redoubt::internal {

// augment for a subproblem, which gives one of the augmented problem; every rank calls it. A
// rank owns the pairs of its own states. What is done with it takes at least `bytes_for_each` state
// of it: where there is no room for that, it is an Error before there is much work. Throws Stopped.
AugmentedProblem augment(const Problem& problem, Workers& workers, double bytes_for_each = 0);

// Bytes that it takes beyond the arrays of its model: those of the original one, and what leads
// back there.
double bytes_beyond_model(const AugmentedProblem& augmented);

// Where a policy can be: an augmented state, and the memory of the policy that is being mapped
// to the original problem or to the augmented one.
struct AugmentedNode {
  State state = 0;  // in the whole augmented model
  std::int32_t memory = 0;
  auto operator<=>(const AugmentedNode&) const = default;
};

// A policy of the original problem on the augmented one. nodes[stage] are sorted; the memory states
// of an augmented state are its nodes there, sorted. Every rank has its own nodes.
struct PolicyOnAugmented {
  Policy policy;
  std::vector<std::vector<AugmentedNode>> nodes;
};
// Throws Stopped.
PolicyOnAugmented to_augmented_with_nodes(const AugmentedProblem& augmented, const Policy& policy,
                                          Workers& workers);

// to_original for subproblems, which every rank calls. Throws Stopped.
Policy to_original(const AugmentedProblem& augmented, const Policy& policy, Workers& workers);

}  // namespace redoubt::internal
