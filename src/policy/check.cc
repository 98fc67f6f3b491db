#include "policy/check.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "bellman/row_evaluator.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "parallel/exchange.h"
#include "policy/budget.h"
#include "policy/memory_update.h"
#include "support/require.h"

// What a policy must be to be used on a problem. Policies come from files and callers as well as
// from solvers, and everything else trusts them.
namespace redoubt {
using namespace internal;
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
  Checker(const Problem& problem, const Policy& policy, Communicator& ranks)
      : problem_(problem),
        model_(problem.model()),
        policy_(policy),
        exchange_(problem.model(), ranks),
        memory_(problem.model().states(), 0.0) {}

  void shape() const {
    require(policy_.states == model_.own_states(),
            "the policy is for {} states, the problem has {}", policy_.states, model_.own_states());
    const auto stages = static_cast<int>(policy_.stages.size());
    if (problem_.infinite()) {
      require(policy_.repeats_last && stages > 0,
              "the policy ends after {} stages, the problem has an infinite horizon", stages);
    } else {
      require(policy_.repeats_last ? stages > 0 || problem_.horizon() == 0
                                   : stages >= problem_.horizon(),
              "the policy ends after {} stages, the horizon is {}", stages, problem_.horizon());
    }
    for (int h = 0; h < stages; ++h) nodes(h);
    for (const BudgetAxis& axis : policy_.budget) budget_axis(axis);
  }

  // How many memory states every state has at a stage that others lead to; all ranks ask.
  void look_at(int stage) {
    for (State s = 0; s < policy_.states; ++s)
      memory_[model_.own(s)] = static_cast<double>(memory_of(policy_, stage, s));
    exchange_.update({memory_.data(), 1, 1, 0, 1});
  }

  // Once the shape is known to be good and we have looked at the next stage.
  void stage(int h) {
    const Policy::Stage& here = policy_.at(h);
    if (!policy_.budget.empty()) budget(h);
    decisions(h);
    if (!here.outcome_slot.empty()) table(h);
  }

  // Once the table of a stage is known to be good: where its landing plans say too little; all
  // ranks ask.
  void look_at_plans(int h) {
    const Policy::Stage& here = policy_.at(h);
    Communicator& ranks = exchange_.ranks();
    gaps_.clear();
    if (!lands_anywhere(problem_) || !any_rank(ranks, !here.outcome_slot.empty())) return;
    const std::vector<bool> used =
        used_plans(static_cast<std::int64_t>(max_over_ranks(ranks, static_cast<double>(plans(h)))));
    std::vector<Gap> own;
    for (std::int64_t slot = 0; slot < plans(h) * policy_.states; ++slot) {
      const auto plan = static_cast<std::int32_t>(slot / policy_.states);
      if (!used[plan]) continue;
      double sum = 0;
      for (const MemoryMove& move : moves(here.landing_moves, here.landing_begin, slot))
        sum += move.weight;
      const auto s = model_.own(static_cast<State>(slot % policy_.states));
      if (std::abs(sum - 1) > kTolerance) own.push_back({plan, whole_number(model_, s), sum});
    }
    for (const Gap& gap : all_gather_lists(ranks, std::move(own))) gaps_[gap.plan].push_back(gap);
  }

  // A plan must say what to remember in every state that the row does not list.
  void landings(int h) {
    for (const auto& [row, plan] : used_) {
      const auto found = gaps_.find(plan);
      if (found == gaps_.end()) continue;
      for (const Gap& gap : found->second) {
        require(row_lists(model_, row, gap.state),
                "landing moves of stage {} of the policy into state {} sum to {}, must sum to 1", h,
                gap.state, gap.sum);
      }
    }
    used_.clear();
  }

  // Once we have looked at the first stage.
  void start() const {
    if (!policy_.start_states.empty()) {
      check_offsets(policy_.start_begin, static_cast<std::int64_t>(policy_.start_moves.size()),
                    "start_begin", 0);
      require(policy_.start_begin.size() == policy_.start_states.size() + 1,
              "the policy has {} starts for {} states", policy_.start_begin.size() - 1,
              policy_.start_states.size());
    }
    for (const State state : problem_.start().states)
      mixture(start_memory(policy_, whole_number(model_, state)), state, "start", 0);
  }

 private:
  struct Gap {
    std::int32_t plan = 0;
    State state = 0;  // in the whole model
    double sum = 0;   // of the weights in it
  };

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

  void decisions(int h) const {
    if (policy_.states == 0) return;  // of a rank that has none
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
    const State at = model_.own(s);
    const State name = whole_number(model_, at);
    const auto actions = model_.row_end(h, at) - model_.row_begin(h, at);
    if (actions == 0) return;
    double sum = 0;
    for_each_choice(policy_.at(h), node, [&](std::int32_t action, double weight) {
      require(action >= 0 && action < actions,
              "action {} of the policy in state {} at stage {}, must be in 0..{}", action, name, h,
              actions - 1);
      require(weight >= 0, "weight {} of the policy in state {} at stage {}, must not be negative",
              weight, name, h);
      sum += weight;
    });
    require(std::abs(sum - 1) <= kTolerance,
            "action weights of the policy in state {} at stage {} sum to {}, must sum to 1", name,
            h, sum);
  }

  void budget_axis(const BudgetAxis& axis) const {
    const auto stages = policy_.stages.size();
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
    require(axis.cells.size() >= stages && !axis.cells.empty() &&
                axis.low.size() == axis.cells.size() && axis.slack.size() == axis.cells.size(),
            "the policy has budgets for {} stages, must be for {}", axis.cells.size(), stages);
  }

  void budget(int h) const {
    double memory = 1;
    for (const BudgetAxis& axis : policy_.budget) memory *= cells_at(axis, h);
    require(policy_.at(h).node_begin.empty() && policy_.at(h).memory == memory,
            "stage {} of the policy has {} memory states, its budgets have {}", h,
            policy_.at(h).memory, memory);
    require(policy_.at(h).outcome_slot.empty(),
            "stage {} of the policy has a budget and a table of memory moves, must have one", h);
  }

  void table(int h) {
    const Policy::Stage& here = policy_.at(h);
    require(here.mixed.empty(),
            "stage {} of the policy has a table of memory moves, its decisions "
            "must be a list",
            h);
    require(here.outcome_slot.size() == here.choice_action.size(),
            "stage {} of the policy has memory moves for {} choices, must be for {}", h,
            here.outcome_slot.size(), here.choice_action.size());
    check_offsets(here.move_begin, static_cast<std::int64_t>(here.moves.size()), "move_begin", h);
    if (lands_anywhere(problem_)) landing_targets(h);
    for (State s = 0; s < policy_.states; ++s) {
      const Row first = model_.row_begin(h, model_.own(s));
      if (first == model_.row_end(h, model_.own(s))) continue;
      for (auto c = here.choice_begin[here.begin(s)]; c < here.choice_begin[here.end(s)]; ++c)
        choice(h, first + here.choice_action[c], here.outcome_slot[c]);
    }
  }

  void choice(int h, Row row, std::int64_t slot) {
    const Policy::Stage& here = policy_.at(h);
    const bool lands = lands_anywhere(problem_);
    const auto outcomes = model_.outcome_end(row) - model_.outcome_begin(row);
    require(slot >= 0 && slot + outcomes + (lands ? 1 : 0) <
                             static_cast<std::int64_t>(here.move_begin.size()),
            "stage {} of the policy has memory moves from {} on for {}, it has {} in all", h, slot,
            model_.row_name(row), here.move_begin.size() - 1);
    for (std::int64_t i = 0; i < outcomes; ++i) {
      const State next = model_.arrays().next[model_.outcome_begin(row) + i];
      mixture(moves(here.moves, here.move_begin, slot + i), next, "memory moves", h);
    }
    if (!lands) return;
    for (const MemoryMove& move : moves(here.moves, here.move_begin, slot + outcomes)) {
      require(move.memory >= 0 && move.memory < plans(h),
              "landing plan {} of {} at stage {}, the policy has {}", move.memory,
              model_.row_name(row), h, plans(h));
      used_.insert({row, move.memory});
    }
  }

  // Landing plans of a stage, where we have states that they are for.
  std::int64_t plans(int h) const {
    if (policy_.states == 0) return 0;
    return static_cast<std::int64_t>(policy_.at(h).landing_begin.size() - 1) / policy_.states;
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
      targets(moves(here.landing_moves, here.landing_begin, static_cast<std::int64_t>(slot)),
              model_.own(s), "landing moves", h);
    }
  }

  // The plans that some rank's choices may draw; others may say anything.
  std::vector<bool> used_plans(std::int64_t count) const {
    std::vector<double> used(count, 0.0);
    for (const auto& [row, plan] : used_) used[plan] = -1;
    min_over_ranks(exchange_.ranks(), used);
    return {used.begin(), used.end()};
  }

  static std::vector<MemoryMove> moves(const std::vector<MemoryMove>& all,
                                       const std::vector<std::int64_t>& begin, std::int64_t slot) {
    return {all.begin() + begin[slot], all.begin() + begin[slot + 1]};
  }

  // Memory states that `state` has at the stage we have looked at, with weights that sum to one.
  void mixture(const std::vector<MemoryMove>& list, State state, const char* what, int h) const {
    const double sum = targets(list, state, what, h);
    require(std::abs(sum - 1) <= kTolerance,
            "{} of stage {} of the policy into state {} sum to {}, must sum to 1", what, h,
            whole_number(model_, state), sum);
  }

  // The same whatever they sum to, which is returned.
  double targets(const std::vector<MemoryMove>& list, State state, const char* what, int h) const {
    const auto count = static_cast<std::int64_t>(memory_[state]);
    double sum = 0;
    for (const MemoryMove& move : list) {
      require(move.memory >= 0 && move.memory < count,
              "{} of stage {} of the policy lead to memory {} of state {}, which has {}", what, h,
              move.memory, whole_number(model_, state), count);
      require(move.weight >= 0, "{} of stage {} of the policy have weight {}, must not be negative",
              what, h, move.weight);
      sum += move.weight;
    }
    return sum;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  Exchange exchange_;
  std::vector<double> memory_;                     // of each state, at the stage we have looked at
  std::set<std::pair<Row, std::int32_t>> used_;    // landing plans that choices of a stage may draw
  std::map<std::int32_t, std::vector<Gap>> gaps_;  // of the plans of a stage
};

}  // namespace

void internal::check_policy(const Problem& problem, const Policy& policy, Communicator& ranks) {
  Checker checker(problem, policy, ranks);
  all_or_none(ranks, [&] { checker.shape(); });
  const int stages = static_cast<int>(policy.stages.size());
  for (int h = 0; h < (problem.infinite() ? stages : problem.horizon()); ++h) {
    if (h >= stages && problem.model().stages() == 1) break;
    checker.look_at(h + 1);
    all_or_none(ranks, [&] { checker.stage(h); });
    checker.look_at_plans(h);
    all_or_none(ranks, [&] { checker.landings(h); });
  }
  checker.look_at(0);
  all_or_none(ranks, [&] { checker.start(); });
}

void check_policy(const Problem& problem, const Policy& policy) {
  check_policy(problem, policy, one_process());
}

}  // namespace redoubt
