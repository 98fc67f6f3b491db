#include "policy/lift.h"

#include <algorithm>

#include "policy/moves.h"
#include "sweep/row_evaluator.h"

namespace redoubt {
namespace {

using Nodes = std::vector<std::vector<AugmentedNode>>;  // of each stage, sorted

// Follows a policy through the augmented problem. The policy is one of the augmented problem itself
// or one of the original: they differ in whose states its nodes belong to and whose outcomes move
// its memory.
class Walk {
 public:
  Walk(const AugmentedProblem& augmented, const Policy& policy, bool of_original)
      : augmented_(augmented),
        model_(augmented.problem.model()),
        policy_(policy),
        of_original_(of_original) {}

  struct Choice {
    Decision decision;
    double weight = 0;
    Row row = 0;  // of the augmented model
  };

  std::vector<Choice> choices(int h, const AugmentedNode& node) const {
    std::vector<Choice> list;
    const Row first = model_.row_begin(h, node.state);
    if (first == model_.row_end(h, node.state)) return list;
    const Policy::Stage& here = policy_.at(h);
    const auto at = here.begin(own(node.state)) + node.memory;
    auto position = here.mixed.empty() ? here.choice_begin[at] : at;
    for_each_choice(here, at, [&](std::int32_t action, double weight) {
      if (weight > 0)
        list.push_back(
            {{h, own(node.state), node.memory, action, position}, weight, first + action});
      ++position;
    });
    return list;
  }

  // What the policy remembers after an outcome of the augmented model.
  std::vector<MemoryMove> after(const Choice& choice, std::int64_t outcome) const {
    std::vector<MemoryMove> moves;
    const State next = model_.arrays().next[outcome];
    if (of_original_) {
      memory_moves(augmented_.original, policy_, choice.decision, augmented_.outcome[outcome],
                   augmented_.state[next], moves);
    } else {
      memory_moves(augmented_.problem, policy_, choice.decision,
                   outcome - model_.outcome_begin(choice.row), next, moves);
    }
    return moves;
  }

  // Where episodes can come to. They begin in all memory states of the start, or in those that the
  // policy begins in.
  Nodes nodes(bool all_starts) const {
    Nodes nodes(augmented_.problem.horizon());
    if (nodes.empty()) return nodes;
    for (const State start : augmented_.problem.start().states) {
      const Policy::Stage& first = policy_.at(0);
      const auto count = first.end(own(start)) - first.begin(own(start));
      for (std::int32_t m = 0; all_starts && m < count; ++m) nodes[0].push_back({start, m});
      if (all_starts) continue;
      for (const MemoryMove& move : start_memory(policy_, own(start)))
        nodes[0].push_back({start, move.memory});
    }
    tidy(nodes[0]);
    for (std::size_t h = 0; h + 1 < nodes.size(); ++h) {
      for (const AugmentedNode& node : nodes[h]) {
        for (const Choice& choice : choices(static_cast<int>(h), node)) {
          for (auto i = model_.outcome_begin(choice.row); i < model_.outcome_end(choice.row); ++i) {
            for (const MemoryMove& move : after(choice, i))
              nodes[h + 1].push_back({model_.arrays().next[i], move.memory});
          }
        }
      }
      tidy(nodes[h + 1]);
    }
    return nodes;
  }

 private:
  State own(State augmented) const {  // the state as the policy knows it
    return of_original_ ? augmented_.state[augmented] : augmented;
  }
  static void tidy(std::vector<AugmentedNode>& nodes) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }

  const AugmentedProblem& augmented_;
  const Model& model_;
  const Policy& policy_;
  bool of_original_;
};

// Writes what a walk found as a policy whose memory moves by table: of the original problem, where
// a state's memory is all nodes with that state, or of the augmented one, where it is those with
// the same budgets too.
class Writer {
 public:
  Writer(const AugmentedProblem& augmented, const Walk& walk, const Nodes& nodes, bool for_original)
      : augmented_(augmented),
        model_(augmented.problem.model()),
        walk_(walk),
        nodes_(nodes),
        for_original_(for_original) {}

  Policy write(const Policy& from) {
    Policy policy;
    policy.states = for_original_ ? augmented_.original.model().states() : model_.states();
    for (const auto& nodes : nodes_) node_begin_.push_back(group(nodes, policy.states));
    for (std::size_t h = 0; h < nodes_.size(); ++h)
      policy.stages.push_back(stage(static_cast<int>(h), policy.states));
    const auto& states = augmented_.problem.start().states;
    policy.start_begin = {0};
    for (const State start : states) {
      policy.start_states.push_back(owner({start, 0}));
      const auto moves = start_memory(from, for_original_ ? start : augmented_.state[start]);
      for (const MemoryMove& move : moves) add(policy.start_moves, 0, start, move);
      policy.start_begin.push_back(static_cast<std::int64_t>(policy.start_moves.size()));
    }
    return policy;
  }

 private:
  State owner(const AugmentedNode& node) const {
    return for_original_ ? augmented_.state[node.state] : node.state;
  }
  // Augmented states are ordered by their original ones, and so are nodes.
  std::vector<std::int64_t> group(const std::vector<AugmentedNode>& nodes, State states) const {
    std::vector<std::int64_t> begin(states + 1, 0);
    for (const AugmentedNode& node : nodes) ++begin[owner(node) + 1];
    for (State s = 0; s < states; ++s) begin[s + 1] += begin[s];
    return begin;
  }

  // Nothing is remembered when the horizon is over.
  void add(std::vector<MemoryMove>& moves, std::size_t stage, State state,
           const MemoryMove& move) const {
    if (stage == nodes_.size()) {
      moves.push_back({0, move.weight});
      return;
    }
    const AugmentedNode node{state, move.memory};
    const auto& all = nodes_[stage];
    const auto place = std::lower_bound(all.begin(), all.end(), node) - all.begin();
    moves.push_back(
        {static_cast<std::int32_t>(place - node_begin_[stage][owner(node)]), move.weight});
  }

  Policy::Stage stage(int h, State states) {
    Policy::Stage stage;
    stage.node_begin = node_begin_[h];
    stage.choice_begin = {0};
    stage.move_begin = {0};
    if (for_original_ && lands_anywhere(augmented_.original)) stage.landing_begin = {0};
    for (const AugmentedNode& node : nodes_[h]) {
      for (const Walk::Choice& choice : walk_.choices(h, node)) {
        stage.choice_action.push_back(choice.decision.action);
        stage.choice_weight.push_back(choice.weight);
        stage.outcome_slot.push_back(static_cast<std::int64_t>(stage.move_begin.size()) - 1);
        if (for_original_)
          add_original(h, choice, states, stage);
        else
          add_augmented(h, choice, stage);
      }
      stage.choice_begin.push_back(static_cast<std::int64_t>(stage.choice_action.size()));
    }
    return stage;
  }

  void add_augmented(int h, const Walk::Choice& choice, Policy::Stage& stage) const {
    for (auto i = model_.outcome_begin(choice.row); i < model_.outcome_end(choice.row); ++i) {
      for (const MemoryMove& move : walk_.after(choice, i))
        add(stage.moves, h + 1, model_.arrays().next[i], move);
      stage.move_begin.push_back(static_cast<std::int64_t>(stage.moves.size()));
    }
  }

  // The outcomes of the original row in its own order, then a landing plan of the choice's own.
  void add_original(int h, const Walk::Choice& choice, State states, Policy::Stage& stage) const {
    std::vector<std::int64_t> by_outcome;  // the augmented outcome of each original one
    std::vector<std::int64_t> landing(states, -1);
    const auto begin = model_.outcome_begin(choice.row), end = model_.outcome_end(choice.row);
    const Model& original = augmented_.original.model();
    const Row row =
        original.row_begin(h, augmented_.state[choice.decision.state]) + choice.decision.action;
    const auto outcomes = original.outcome_end(row) - original.outcome_begin(row);
    by_outcome.resize(outcomes);
    for (auto i = begin; i < end; ++i) {
      if (augmented_.outcome[i] < outcomes)
        by_outcome[augmented_.outcome[i]] = i;
      else
        landing[augmented_.state[model_.arrays().next[i]]] = i;
    }
    for (const auto i : by_outcome) {
      for (const MemoryMove& move : walk_.after(choice, i))
        add(stage.moves, h + 1, model_.arrays().next[i], move);
      stage.move_begin.push_back(static_cast<std::int64_t>(stage.moves.size()));
    }
    if (stage.landing_begin.empty()) return;
    const auto plan = static_cast<std::int32_t>(stage.landing_begin.size() / states);
    stage.moves.push_back({plan, 1.0});
    stage.move_begin.push_back(static_cast<std::int64_t>(stage.moves.size()));
    for (const auto i : landing) {
      if (i >= 0) {
        for (const MemoryMove& move : walk_.after(choice, i))
          add(stage.landing_moves, h + 1, model_.arrays().next[i], move);
      }
      stage.landing_begin.push_back(static_cast<std::int64_t>(stage.landing_moves.size()));
    }
  }

  const AugmentedProblem& augmented_;
  const Model& model_;
  const Walk& walk_;
  const Nodes& nodes_;
  bool for_original_;
  std::vector<std::vector<std::int64_t>> node_begin_;  // of each stage
};

}  // namespace

Policy lift(const AugmentedProblem& augmented, const Policy& policy) {
  check_policy(augmented.problem, policy);
  const Walk walk(augmented, policy, false);
  const Nodes nodes = walk.nodes(true);
  return Writer(augmented, walk, nodes, true).write(policy);
}

LoweredPolicy lower_with_nodes(const AugmentedProblem& augmented, const Policy& policy) {
  const Walk walk(augmented, policy, true);
  LoweredPolicy lowered{{}, walk.nodes(false)};
  lowered.policy = Writer(augmented, walk, lowered.nodes, false).write(policy);
  return lowered;
}

Policy lower(const AugmentedProblem& augmented, const Policy& policy) {
  check_policy(augmented.original, policy);
  return lower_with_nodes(augmented, policy).policy;
}

}  // namespace redoubt
