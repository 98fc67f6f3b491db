#pragma once

#include "redoubt/policy.h"

namespace redoubt::internal {

// What a stage says of memory, beside its decisions.
struct StageLayout {
  bool nodes_by_state = false;  // states have different numbers of memory states
  bool moves_by_table = false;
  bool landing_plans = false;
};

// Writes one stage of a policy from its first node to its last, with decisions as lists: the one
// place that knows how offsets stand in a stage. Nodes come in the order of the states.
class StageBuilder {
 public:
  explicit StageBuilder(StageLayout layout = {}) : layout_(layout) {
    stage_.choice_begin.push_back(0);
    if (layout.nodes_by_state) stage_.node_begin.push_back(0);
    if (layout.moves_by_table) stage_.move_begin.push_back(0);
    if (layout.landing_plans) stage_.landing_begin.push_back(0);
  }

  // Expected sizes, so that lists need not grow.
  void reserve(std::size_t states, std::size_t nodes, std::size_t outcomes, std::size_t moves) {
    if (layout_.nodes_by_state) stage_.node_begin.reserve(states + 1);
    stage_.choice_begin.reserve(nodes + 1);
    stage_.choice_action.reserve(nodes);
    stage_.choice_weight.reserve(nodes);
    if (!layout_.moves_by_table) return;
    stage_.outcome_slot.reserve(nodes);
    stage_.move_begin.reserve(outcomes + 1);
    stage_.moves.reserve(moves);
  }

  // The node at hand takes an action, a position in the state's list. Its outcomes follow.
  void choose(std::int32_t action, double weight) {
    stage_.choice_action.push_back(action);
    stage_.choice_weight.push_back(weight);
    if (layout_.moves_by_table) stage_.outcome_slot.push_back(size(stage_.move_begin) - 1);
  }
  // Where memory goes after the outcome at hand of the last choice.
  void move(const MemoryMove& move) { stage_.moves.push_back(move); }
  void end_outcome() { stage_.move_begin.push_back(size(stage_.moves)); }
  void end_node() { stage_.choice_begin.push_back(size(stage_.choice_action)); }
  void end_state() { stage_.node_begin.push_back(size(stage_.choice_begin) - 1); }

  // What the plan at hand says of a landing in the state at hand.
  void land(const MemoryMove& move) { stage_.landing_moves.push_back(move); }
  void end_landing() { stage_.landing_begin.push_back(size(stage_.landing_moves)); }

  Policy::Stage take() { return std::move(stage_); }

 private:
  template <class Value>
  static std::int64_t size(const std::vector<Value>& list) {
    return static_cast<std::int64_t>(list.size());
  }

  StageLayout layout_;
  Policy::Stage stage_;
};

// A stage of a memoryless policy that takes one action in each state; -1: the state is terminal.
inline Policy::Stage pure_stage(const std::vector<std::int32_t>& actions) {
  StageBuilder stage;
  stage.reserve(actions.size(), actions.size(), 0, 0);
  for (const std::int32_t action : actions) {
    if (action >= 0) stage.choose(action, 1.0);
    stage.end_node();
  }
  return stage.take();
}
// The policy that does so for ever.
inline Policy pure_policy(const std::vector<std::int32_t>& actions) {
  Policy policy;
  policy.states = static_cast<State>(actions.size());
  policy.repeats_last = true;
  policy.stages = {pure_stage(actions)};
  return policy;
}

}  // namespace redoubt::internal
