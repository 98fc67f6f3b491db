#include <cmath>
#include <set>
#include <utility>

#include "model/require.h"
#include "policy/budget.h"
#include "policy/moves.h"

// What a policy must be to be used on a problem. Policies come from files and callers as well as
// from solvers, and everything else trusts them.
namespace redoubt {
namespace {

constexpr double kTolerance = 1e-9;  // of weights that sum to one

// offsets[0] = 0, never decreasing, ending at `total`.
void check_offsets(const std::vector<std::int64_t>& offsets, std::int64_t total, const char* what,
                   int h) {
  bool good = !offsets.empty() && offsets.front() == 0 && offsets.back() == total;
  for (std::size_t i = 1; good && i < offsets.size(); ++i) good = offsets[i - 1] <= offsets[i];
  require(good, "{} of stage {} of the policy must start at 0, never decrease and end at {}", what,
          h, total);
}

class Checker {
 public:
  Checker(const Problem& problem, const Policy& policy)
      : problem_(problem), model_(problem.model()), policy_(policy) {}

  void nodes(int h) const {
    const Policy::Stage& here = policy_.at(h);
    if (here.node_begin.empty()) {
      require(here.memory >= 1, "stage {} of the policy has {} memory states, must have one", h,
              here.memory);
    } else {
      require(here.node_begin.size() == static_cast<std::size_t>(policy_.states) + 1,
              "stage {} of the policy has nodes for {} states, must be for {}", h,
              here.node_begin.size() - 1, policy_.states);
      check_offsets(here.node_begin, here.node_begin.back(), "node_begin", h);
    }
  }

  // Once the nodes of every stage are known to be good.
  void stage(int h) const {
    const Policy::Stage& here = policy_.at(h);
    if (!policy_.budget.empty()) budget(h);
    decisions(h);
    if (!here.outcome_slot.empty()) table(h);
  }

  void start() const {
    if (!policy_.start_states.empty()) {
      check_offsets(policy_.start_begin, static_cast<std::int64_t>(policy_.start_moves.size()),
                    "start_begin", 0);
      require(policy_.start_begin.size() == policy_.start_states.size() + 1,
              "the policy has {} starts for {} states", policy_.start_begin.size() - 1,
              policy_.start_states.size());
    }
    for (const State state : problem_.start().states)
      mixture(start_memory(policy_, state), 0, state, "start", 0);
  }

 private:
  void decisions(int h) const {
    const Policy::Stage& here = policy_.at(h);
    const auto nodes = here.end(policy_.states - 1);
    const auto listed = static_cast<std::int64_t>(here.mixed.empty() ? here.choice_begin.size() - 1
                                                                     : here.mixed.size());
    require(listed == nodes, "stage {} of the policy has {} decisions, must have {}", h, listed,
            nodes);
    if (here.mixed.empty()) {
      check_offsets(here.choice_begin, static_cast<std::int64_t>(here.choice_action.size()),
                    "choice_begin", h);
      require(here.choice_action.size() == here.choice_weight.size(),
              "stage {} of the policy has {} actions and {} weights, must have equally many", h,
              here.choice_action.size(), here.choice_weight.size());
    }
    for (State s = 0; s < policy_.states; ++s) {
      for (auto node = here.begin(s); node < here.end(s); ++node) decision(h, s, node);
    }
  }

  void decision(int h, State s, std::int64_t node) const {
    const State at = model_.own_begin() + s;
    const auto actions = model_.row_end(h, at) - model_.row_begin(h, at);
    if (actions == 0) return;
    double sum = 0;
    for_each_choice(policy_.at(h), node, [&](std::int32_t action, double weight) {
      require(action >= 0 && action < actions,
              "action {} of the policy in state {} at stage {}, must be in 0..{}", action, s, h,
              actions - 1);
      require(weight >= 0, "weight {} of the policy in state {} at stage {}, must not be negative",
              weight, s, h);
      sum += weight;
    });
    require(std::abs(sum - 1) <= kTolerance,
            "action weights of the policy in state {} at stage {} sum to {}, must sum to 1", s, h,
            sum);
  }

  void budget(int h) const {
    const auto stages = policy_.stages.size();
    double memory = 1;
    for (const BudgetAxis& axis : policy_.budget) {
      require(
          axis.constraint >= 0 && axis.constraint < static_cast<int>(problem_.constraints().size()),
          "the policy keeps a budget for constraint {}, the problem has {}", axis.constraint,
          problem_.constraints().size());
      require(axis.signal == problem_.signal_of(axis.constraint),
              "the policy keeps a budget of signal {}, constraint {} is on signal {}", axis.signal,
              axis.constraint, problem_.signal_of(axis.constraint));
      require(axis.step > 0 && axis.discount > 0,
              "budget step {} and discount {} of the policy, must be above 0", axis.step,
              axis.discount);
      require(axis.cells.size() >= stages && axis.cells.size() >= 1 &&
                  axis.low.size() == axis.cells.size() && axis.slack.size() == axis.cells.size(),
              "the policy has budgets for {} stages, must be for {}", axis.cells.size(), stages);
      memory *= cells_at(axis, h);
    }
    require(policy_.at(h).node_begin.empty() && policy_.at(h).memory == memory,
            "stage {} of the policy has {} memory states, its budgets have {}", h,
            policy_.at(h).memory, memory);
    require(policy_.at(h).outcome_slot.empty(),
            "stage {} of the policy has a budget and a table of memory moves, must have one", h);
  }

  void table(int h) const {
    const Policy::Stage& here = policy_.at(h);
    require(here.mixed.empty(),
            "stage {} of the policy has a table of memory moves, its decisions "
            "must be a list",
            h);
    require(here.outcome_slot.size() == here.choice_action.size(),
            "stage {} of the policy has memory moves for {} choices, must be for {}", h,
            here.outcome_slot.size(), here.choice_action.size());
    check_offsets(here.move_begin, static_cast<std::int64_t>(here.moves.size()), "move_begin", h);
    const auto* tv = std::get_if<TV>(&problem_.uncertainty());
    const bool lands = tv && tv->reach == Reach::anywhere;
    if (lands) landing_targets(h);
    std::set<std::pair<Row, std::int32_t>> plans;  // that a choice may draw; others are not used
    for (State s = 0; s < policy_.states; ++s) {
      if (model_.row_begin(h, s) == model_.row_end(h, s)) continue;
      for (auto c = here.choice_begin[here.begin(s)]; c < here.choice_begin[here.end(s)]; ++c)
        choice(h, model_.row_begin(h, s) + here.choice_action[c], here.outcome_slot[c], lands,
               plans);
    }
    for (const auto& [row, plan] : plans) landing_plan(h, row, plan);
  }

  void choice(int h, Row row, std::int64_t slot, bool lands,
              std::set<std::pair<Row, std::int32_t>>& used) const {
    const Policy::Stage& here = policy_.at(h);
    const auto outcomes = model_.outcome_end(row) - model_.outcome_begin(row);
    require(slot >= 0 && slot + outcomes + (lands ? 1 : 0) <
                             static_cast<std::int64_t>(here.move_begin.size()),
            "stage {} of the policy has memory moves from {} on for {}, it has {} in all", h, slot,
            model_.row_name(row), here.move_begin.size() - 1);
    for (std::int64_t i = 0; i < outcomes; ++i) {
      const State next = model_.arrays().next[model_.outcome_begin(row) + i];
      mixture(moves(here.moves, here.move_begin, slot + i), h + 1, next, "memory moves", h);
    }
    if (!lands) return;
    const auto plans = static_cast<std::int64_t>(here.landing_begin.size() - 1) / policy_.states;
    for (const MemoryMove& move : moves(here.moves, here.move_begin, slot + outcomes)) {
      require(move.memory >= 0 && move.memory < plans,
              "landing plan {} of {} at stage {}, the policy has {}", move.memory,
              model_.row_name(row), h, plans);
      used.insert({row, move.memory});
    }
  }

  void landing_targets(int h) const {
    const Policy::Stage& here = policy_.at(h);
    require(here.landing_begin.size() % policy_.states == 1 % policy_.states,
            "stage {} of the policy has no landing plans, which total variation with reach "
            "anywhere needs: solve again with that set",
            h);
    check_offsets(here.landing_begin, static_cast<std::int64_t>(here.landing_moves.size()),
                  "landing_begin", h);
    for (std::size_t slot = 0; slot + 1 < here.landing_begin.size(); ++slot) {
      const auto s = static_cast<State>(slot % policy_.states);
      targets(moves(here.landing_moves, here.landing_begin, static_cast<std::int64_t>(slot)), h + 1,
              s, "landing moves", h);
    }
  }

  // A plan says what to remember in the states that the row does not list.
  void landing_plan(int h, Row row, std::int32_t plan) const {
    const Policy::Stage& here = policy_.at(h);
    for (State s = 0; s < policy_.states; ++s) {
      if (model_.lists(row, s)) continue;
      const auto slot = std::int64_t{plan} * policy_.states + s;
      mixture(moves(here.landing_moves, here.landing_begin, slot), h + 1, s, "landing moves", h);
    }
  }

  static std::vector<MemoryMove> moves(const std::vector<MemoryMove>& all,
                                       const std::vector<std::int64_t>& begin, std::int64_t slot) {
    return {all.begin() + begin[slot], all.begin() + begin[slot + 1]};
  }

  // Memory states that `state` has at stage `there`, with weights that sum to one.
  void mixture(const std::vector<MemoryMove>& list, int there, State state, const char* what,
               int h) const {
    const double sum = targets(list, there, state, what, h);
    require(std::abs(sum - 1) <= kTolerance,
            "{} of stage {} of the policy into state {} sum to {}, must sum to 1", what, h, state,
            sum);
  }

  // The same whatever they sum to, which is returned.
  double targets(const std::vector<MemoryMove>& list, int there, State state, const char* what,
                 int h) const {
    const auto count = memory_of(policy_, there, state);
    double sum = 0;
    for (const MemoryMove& move : list) {
      require(move.memory >= 0 && move.memory < count,
              "{} of stage {} of the policy lead to memory {} of state {}, which has {}", what, h,
              move.memory, state, count);
      require(move.weight >= 0, "{} of stage {} of the policy have weight {}, must not be negative",
              what, h, move.weight);
      sum += move.weight;
    }
    return sum;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
};

}  // namespace

void check_policy(const Problem& problem, const Policy& policy) {
  const Model& model = problem.model();
  require(policy.states == model.own_states(), "the policy is for {} states, the problem has {}",
          policy.states, model.own_states());
  const auto stages = static_cast<int>(policy.stages.size());
  if (problem.infinite()) {
    require(policy.repeats_last && stages > 0,
            "the policy ends after {} stages, the problem has an infinite horizon", stages);
  } else {
    require(
        policy.repeats_last ? stages > 0 || problem.horizon() == 0 : stages >= problem.horizon(),
        "the policy ends after {} stages, the horizon is {}", stages, problem.horizon());
  }
  const Checker checker(problem, policy);
  for (int h = 0; h < stages; ++h) checker.nodes(h);
  for (int h = 0; h < (problem.infinite() ? stages : problem.horizon()); ++h) {
    if (h < stages || model.stages() > 1) checker.stage(h);
  }
  checker.start();
}

}  // namespace redoubt
