#include "policy/memory_update.h"

#include "model/row_name.h"
#include "policy/budget.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

void moves_by_table(const Problem& problem, const Policy& policy, const Decision& d, Row row,
                    std::int64_t outcome, State next, std::vector<MemoryMove>& moves) {
  const Model& model = problem.model();
  const Policy::Stage& stage = policy.at(d.stage);
  require(d.choice >= 0, "{} at stage {} with memory {}: the policy never takes this action there",
          RowName{model, row}, d.stage, d.memory);
  const auto slot = stage.outcome_slot[d.choice] + outcome;
  const auto begin = stage.move_begin[slot], end = stage.move_begin[slot + 1];
  if (outcome < model.outcome_end(row) - model.outcome_begin(row)) {
    moves.assign(stage.moves.begin() + begin, stage.moves.begin() + end);
    return;
  }
  moves.clear();
  for (auto m = begin; m < end; ++m) {
    const auto plan = std::int64_t{stage.moves[m].memory} * policy.states + next;
    for (auto l = stage.landing_begin[plan]; l < stage.landing_begin[plan + 1]; ++l) {
      moves.push_back(
          {stage.landing_moves[l].memory, stage.moves[m].weight * stage.landing_moves[l].weight});
    }
  }
}

// The cells that budgets move to when each axis has earned this much.
void moves_by_earned(std::span<const BudgetAxis> axes, const Decision& d,
                     std::span<const double> earned, std::vector<MemoryMove>& moves) {
  moves.assign(1, {0, 1.0});
  std::int32_t inner = memory_states(axes, d.stage);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    inner /= cells_at(axes[a], d.stage);
    const std::int32_t cell = d.memory / inner % cells_at(axes[a], d.stage);
    const BudgetMove move = move_budget(axes[a], d.stage, cell, earned[a]);
    const auto known = moves.size();
    for (std::size_t m = 0; m < known; ++m) {
      const MemoryMove before = moves[m];
      const std::int32_t memory = before.memory * cells_at(axes[a], d.stage + 1) + move.cell;
      moves[m] = {memory, before.weight * (1 - move.up)};
      if (move.up > 0) moves.push_back({memory + 1, before.weight * move.up});
    }
  }
}

}  // namespace

Decision decision(const Policy& policy, int stage, State state, std::int32_t memory,
                  std::int32_t action) {
  const Policy::Stage& here = policy.at(stage);
  const auto node = here.begin(state) + memory;
  Decision d{stage, state, memory, action, -1};
  auto position = here.mixed.empty() ? here.choice_begin[node] : node;
  for_each_choice(here, node, [&](std::int32_t taken, double weight) {
    if (taken == action && weight > 0) d.choice = position;
    ++position;
  });
  return d;
}

void budget_moves(const Problem& problem, const Policy& policy, const Decision& d, State next,
                  const std::map<std::string, double>& signals, std::vector<MemoryMove>& moves) {
  const Model& model = problem.model();
  const Row row = model.row_begin(d.stage, d.state) + d.action;
  std::vector<double> earned(policy.budget.size());
  earned_on_axes(model, policy.budget, row, -1, earned, next);
  for (std::size_t a = 0; a < earned.size(); ++a) {
    const BudgetAxis& axis = policy.budget[a];
    const auto observed = signals.find(model.arrays().signals[axis.signal].name);
    if (observed != signals.end()) earned[a] = axis.sign * observed->second;
  }
  moves_by_earned(policy.budget, d, earned, moves);
}

void memory_moves(const Problem& problem, const Policy& policy, const Decision& d,
                  std::int64_t outcome, State next, std::vector<MemoryMove>& moves) {
  const Model& model = problem.model();
  const Row row = model.row_begin(d.stage, d.state) + d.action;
  if (!policy.budget.empty()) {
    const bool lands = outcome >= model.outcome_end(row) - model.outcome_begin(row);
    std::vector<double> earned(policy.budget.size());
    earned_on_axes(model, policy.budget, row, lands ? -1 : outcome, earned, next);
    moves_by_earned(policy.budget, d, earned, moves);
  } else if (!policy.at(d.stage).outcome_slot.empty()) {
    moves_by_table(problem, policy, d, row, outcome, next, moves);
  } else {
    moves.assign(1, {kept_memory(policy, d.stage, d.memory), 1.0});
  }
}

std::int32_t kept_memory(const Policy& policy, int stage, std::int32_t memory) {
  if (stage + 1 >= static_cast<int>(policy.stages.size()) && !policy.repeats_last) return 0;
  const Policy::Stage& next = policy.at(stage + 1);
  return next.node_begin.empty() && memory < next.memory ? memory : 0;
}

std::int64_t node_count(const Policy& policy, int stage) {
  if (stage < static_cast<int>(policy.stages.size()) || policy.repeats_last)
    return policy.at(stage).end(policy.states - 1);
  return std::int64_t{policy.states} * memory_states(policy.budget, stage);
}

std::int64_t memory_of(const Policy& policy, int stage, State state) {
  if (stage >= static_cast<int>(policy.stages.size()) && !policy.repeats_last)
    return memory_states(policy.budget, stage);
  const Policy::Stage& here = policy.at(stage);
  return here.node_begin.empty() ? here.memory : here.end(state) - here.begin(state);
}

std::int64_t node_of(const Policy& policy, int stage, State state, std::int32_t memory) {
  if (stage < static_cast<int>(policy.stages.size()) || policy.repeats_last)
    return policy.at(stage).begin(state) + memory;
  return std::int64_t{state} * memory_states(policy.budget, stage) + memory;
}

}  // namespace redoubt::internal
