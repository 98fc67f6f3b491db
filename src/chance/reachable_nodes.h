#pragma once

#include <span>
#include <vector>

#include "chance/augment.h"
#include "policy/memory_update.h"

namespace redoubt::internal {

using Nodes = std::vector<AugmentedNode>;
void sort_unique(Nodes& nodes);  // sorted, each once

// Where one of our own augmented states is in the model that a policy is for, which is the
// augmented one or the original.
struct Place {
  State state = 0;  // in the model
  State own = 0;    // among those that we own, and so in the policy
};
Place place_in(const AugmentedProblem& augmented, bool original, State state);

// What landing plans of a stage say in every state of the whole model. A rank's policy has all
// plans for its own states; here are, for all states, those plans that it asks for.
class WantedPlans {
 public:
  WantedPlans() = default;
  // On every rank; `wanted` are sorted.
  WantedPlans(const Model& model, const Policy::Stage& stage, std::vector<std::int32_t> wanted,
              Communicator& ranks);

  std::span<const MemoryMove> at(std::int32_t plan, State whole) const;

 private:
  State states_ = 0;
  std::vector<std::int32_t> plans_;
  std::vector<std::int64_t> begin_;  // [plan][state], and the end
  std::vector<MemoryMove> moves_;
};

// Follows a policy through the augmented problem. The policy is one of the augmented problem itself
// or one of the original: they differ in whose states its nodes belong to and whose outcomes move
// its memory. Each rank follows it through its own nodes.
class PolicyWalk {
 public:
  PolicyWalk(const AugmentedProblem& augmented, const Policy& policy, bool of_original,
             Workers& workers);

  struct Choice {
    Decision decision;
    double weight = 0;
    Row row = 0;  // of the augmented model
  };
  std::vector<Choice> choices(int h, const AugmentedNode& node) const;

  // Before moves of a stage are asked for; every rank does.
  void look_at(int h, const Nodes& nodes);

  // What the policy remembers after an outcome of the augmented model.
  std::vector<MemoryMove> after(const Choice& choice, std::int64_t outcome) const;

  // What it remembers in a start state.
  std::vector<MemoryMove> at_start(State start) const;

  // Where episodes begin, in our own states: in all memory states, or in those that the policy
  // begins in.
  Nodes start_nodes(bool all) const;

  // Where they go on from our own nodes of a stage, whoever owns it.
  Nodes follow(int h, const Nodes& nodes) const;

 private:
  bool moves_by_table(const Choice& choice) const;
  std::int64_t original_outcomes(const Choice& choice) const;
  std::span<const MemoryMove> plans(const Choice& choice) const;

  const AugmentedProblem& augmented_;
  const Model& model_;
  const Policy& policy_;
  bool of_original_;
  Workers& workers_;
  WantedPlans plans_;  // of the stage that we have looked at
};

}  // namespace redoubt::internal
