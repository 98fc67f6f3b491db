#include "chance/augment.h"

#include <algorithm>
#include <numeric>

#include "bellman/row_evaluator.h"
#include "chance/reachable_nodes.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "policy/check.h"
#include "policy/stage_builder.h"

namespace redoubt {
using namespace internal;
namespace {

// Writes what a walk finds as a policy whose memory moves by table: of the original problem, where
// a state's memory is all nodes with that state, or of the augmented one, where it is those with
// the same budgets too. Ranks go forward together, stage by stage: what follows the nodes of one
// rank goes to the ranks that own it, and these say which memory states they are.
class Writer {
 public:
  Writer(const AugmentedProblem& augmented, const Policy& from, bool for_original, Workers& workers)
      : augmented_(augmented),
        model_(augmented.problem.model()),
        walk_(augmented, from, !for_original, workers),
        for_original_(for_original),
        workers_(workers),
        ranks_(workers.ranks()) {}

  PolicyOnAugmented write() {
    PolicyOnAugmented written;
    const int horizon = augmented_.problem.horizon();
    states_ = for_original_ ? augmented_.original.model().own_states() : model_.own_states();
    written.policy.states = states_;
    Nodes nodes;
    if (horizon > 0) nodes = walk_.start_nodes(for_original_);
    set_start(nodes, horizon, written.policy);
    for (int h = 0; h < horizon; ++h) {
      workers_.check_together();
      walk_.look_at(h, nodes);
      const Nodes next = h + 1 < horizon ? walk_.follow(h, nodes) : Nodes{};
      Nodes reached = send_to_owners(ranks_, next, [&](const auto& node) { return owner(node); });
      sort_unique(reached);
      next_ = number(reached, next);
      written.policy.stages.push_back(stage(h, nodes));
      written.nodes.push_back(std::move(nodes));
      nodes = std::move(reached);
    }
    return written;
  }

 private:
  // Nodes, and which memory states of the written policy they are. Empty when the horizon is over.
  struct Numbered {
    Nodes nodes;
    std::vector<std::int32_t> memory;
  };

  int owner(const AugmentedNode& node) const {
    const auto& part = model_.arrays().submodel;
    return part ? part->owner[number_in_submodel(*part, node.state)] : 0;
  }
  State place(const AugmentedNode& node) const {  // in the written policy
    return place_in(augmented_, for_original_, number_here(model_, node.state)).own;
  }
  // Augmented states are ordered by their original ones, and so are nodes.
  std::vector<std::int64_t> group(const Nodes& nodes) const {
    std::vector<std::int64_t> begin(states_ + 1, 0);
    for (const AugmentedNode& node : nodes) ++begin[place(node) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    return begin;
  }
  Numbered number(const Nodes& own, const Nodes& known) const {
    const std::vector<std::int64_t> begin = group(own);
    const auto memory = [&](const AugmentedNode& node) {
      const auto at = std::lower_bound(own.begin(), own.end(), node) - own.begin();
      return static_cast<std::int32_t>(at - begin[place(node)]);
    };
    return {known, ask_owners(
                       ranks_, known, [&](const auto& node) { return owner(node); }, memory)};
  }

  // Nothing is remembered when the horizon is over.
  MemoryMove written(const Numbered& there, State next, const MemoryMove& move) const {
    if (there.nodes.empty()) return {0, move.weight};
    const AugmentedNode node{whole_number(model_, next), move.memory};
    const auto at = std::lower_bound(there.nodes.begin(), there.nodes.end(), node);
    return {there.memory[at - there.nodes.begin()], move.weight};
  }

  void set_start(const Nodes& own, int horizon, Policy& policy) const {
    const std::vector<State>& states = augmented_.problem.start().states;
    Nodes known;
    for (const State start : states) {
      for (const MemoryMove& move : walk_.at_start(start))
        known.push_back({whole_number(model_, start), move.memory});
    }
    sort_unique(known);
    const Numbered first = horizon > 0 ? number(own, known) : Numbered{};
    policy.start_begin = {0};
    for (const State start : states) {
      policy.start_states.push_back(for_original_ ? augmented_.state[start]
                                                  : whole_number(model_, start));
      for (const MemoryMove& move : walk_.at_start(start))
        policy.start_moves.push_back(written(first, start, move));
      policy.start_begin.push_back(static_cast<std::int64_t>(policy.start_moves.size()));
    }
  }

  Policy::Stage stage(int h, const Nodes& nodes) {
    const bool plans = for_original_ && lands_anywhere(augmented_.original);
    StageBuilder build({.moves_by_table = true});
    if (plans) number_plans(h, nodes);
    for (const AugmentedNode& node : nodes) {
      workers_.check();
      for (const PolicyWalk::Choice& choice : walk_.choices(h, node)) {
        build.choose(choice.decision.action, choice.weight);
        for (const std::int64_t i : outcomes_of(choice)) {
          for (const MemoryMove& move : walk_.after(choice, i))
            build.move(written(next_, model_.arrays().next[i], move));
          build.end_outcome();
        }
        if (plans) add_plan(choice, first_plan_[place(node)]++, build);
      }
      build.end_node();
    }
    Policy::Stage stage = build.take();
    stage.node_begin = group(nodes);
    if (plans) take_plans(stage);
    return stage;
  }

  // The outcomes of the augmented row that the written policy lists, in the order of its model's
  // row.
  std::vector<std::int64_t> outcomes_of(const PolicyWalk::Choice& choice) const {
    const auto begin = model_.outcome_begin(choice.row), end = model_.outcome_end(choice.row);
    std::vector<std::int64_t> list(for_original_ ? original_outcomes(choice) : end - begin);
    for (auto i = begin; i < end; ++i) {
      const auto place = for_original_ ? augmented_.outcome[i] : i - begin;
      if (place < static_cast<std::int64_t>(list.size())) list[place] = i;
    }
    return list;
  }
  std::int64_t original_outcomes(const PolicyWalk::Choice& choice) const {
    const Model& original = augmented_.original.model();
    const State state = place_in(augmented_, true, choice.decision.state).state;
    const Row row = original.row_begin(choice.decision.stage, state) + choice.decision.action;
    return original.outcome_end(row) - original.outcome_begin(row);
  }

  // Every choice has a landing plan of its own, and those of all ranks are numbered in the order of
  // the states.
  void number_plans(int h, const Nodes& nodes) {
    const Model& original = augmented_.original.model();
    std::vector<State> states;
    for (State s = 0; s < states_; ++s) states.push_back(whole_number(original, original.own(s)));
    std::vector<std::int64_t> count(states_, 0);
    for (const AugmentedNode& node : nodes)
      count[place(node)] += static_cast<std::int64_t>(walk_.choices(h, node).size());
    first_plan_ = first_numbers(ranks_, states, count, original.all_states());
    const double mine = std::accumulate(count.begin(), count.end(), 0.0);
    plans_ = static_cast<std::int64_t>(sum_over_ranks(ranks_, mine));
    landings_.assign(ranks_.size(), {});
  }

  // A choice draws its plan for certain. What the plan says of a state is for the rank that owns
  // the state.
  void add_plan(const PolicyWalk::Choice& choice, std::int64_t plan, StageBuilder& build) {
    const auto number = static_cast<std::int32_t>(plan);
    build.move({number, 1.0});
    build.end_outcome();
    const std::int64_t listed = original_outcomes(choice);
    for (auto i = model_.outcome_begin(choice.row); i < model_.outcome_end(choice.row); ++i) {
      if (augmented_.outcome[i] < listed) continue;
      const State next = model_.arrays().next[i];
      const int to = model_.arrays().submodel ? model_.arrays().submodel->owner[next] : 0;
      for (const MemoryMove& move : walk_.after(choice, i))
        landings_[to].push_back({number, augmented_.state[next], written(next_, next, move)});
    }
  }

  // All plans in our own states.
  void take_plans(Policy::Stage& stage) {
    const Model& original = augmented_.original.model();
    const auto slot = [&](const Landing& landing) {
      return landing.plan * std::int64_t{states_} +
             original.own_place(number_here(original, landing.state));
    };
    const auto given = all_to_all(ranks_, std::move(landings_));
    stage.landing_begin.assign(plans_ * states_ + 1, 0);
    for (const auto& list : given) {
      for (const Landing& landing : list) ++stage.landing_begin[slot(landing) + 1];
    }
    std::partial_sum(stage.landing_begin.begin(), stage.landing_begin.end(),
                     stage.landing_begin.begin());
    stage.landing_moves.resize(stage.landing_begin.back());
    std::vector<std::int64_t> at = stage.landing_begin;
    for (const auto& list : given) {
      for (const Landing& landing : list) stage.landing_moves[at[slot(landing)]++] = landing.move;
    }
  }

  struct Landing {
    std::int32_t plan = 0;
    State state = 0;  // in the whole original model
    MemoryMove move;
  };

  const AugmentedProblem& augmented_;
  const Model& model_;
  PolicyWalk walk_;
  bool for_original_;
  Workers& workers_;
  Communicator& ranks_;
  State states_ = 0;                            // of ours, in the written policy
  Numbered next_;                               // of the next stage: nodes that ours lead to
  std::vector<std::int64_t> first_plan_;        // of each of our states
  std::int64_t plans_ = 0;                      // of all ranks
  std::vector<std::vector<Landing>> landings_;  // for each rank
};

}  // namespace

Policy internal::to_original(const AugmentedProblem& augmented, const Policy& policy,
                             Workers& workers) {
  check_policy(augmented.problem, policy, workers.ranks());
  return Writer(augmented, policy, true, workers).write().policy;
}
Policy to_original(const AugmentedProblem& augmented, const Policy& policy) {
  Workers alone(1);
  return to_original(augmented, policy, alone);
}

PolicyOnAugmented internal::to_augmented_with_nodes(const AugmentedProblem& augmented,
                                                    const Policy& policy, Workers& workers) {
  return Writer(augmented, policy, false, workers).write();
}

Policy to_augmented(const AugmentedProblem& augmented, const Policy& policy) {
  check_policy(augmented.original, policy);
  Workers alone(1);
  return to_augmented_with_nodes(augmented, policy, alone).policy;
}

}  // namespace redoubt
