#pragma once

#include <vector>

#include "parallel/workers.h"
#include "redoubt/chance.h"

namespace redoubt::internal {

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
