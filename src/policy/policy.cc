#include "redoubt/policy.h"

#include <algorithm>
#include <cmath>

#include "model/require.h"
#include "policy/budget.h"

namespace redoubt {

std::int64_t Policy::memory_states() const {
  std::int64_t most = 1;
  for (const Stage& stage : stages) {
    for (State s = 0; s < states; ++s) {
      most = std::max(most, stage.end(s) - stage.begin(s));
      if (stage.node_begin.empty()) break;
    }
  }
  return most;
}

std::vector<MemoryMove> start_memory(const Policy& policy, State state) {
  if (policy.start_states.empty()) return {{policy.start_memory, 1.0}};
  const auto found = std::find(policy.start_states.begin(), policy.start_states.end(), state);
  require(found != policy.start_states.end(),
          "the policy has no memory to start from in state {}; solve again with that start", state);
  const auto i = found - policy.start_states.begin();
  return {policy.start_moves.begin() + policy.start_begin[i],
          policy.start_moves.begin() + policy.start_begin[i + 1]};
}

Policy markov_policy(const Problem& problem, const std::vector<std::vector<double>>& weights) {
  const Model& model = problem.model();
  Policy policy;
  policy.states = model.states();
  policy.repeats_last = problem.infinite();
  const int stages = problem.infinite() ? 1 : problem.horizon();
  require(weights.size() == 1 || static_cast<int>(weights.size()) == stages,
          "{} stages of action weights, must be 1 or the horizon {}", weights.size(), stages);
  for (int h = 0; h < (weights.size() == 1 ? std::min(1, stages) : stages); ++h) {
    Policy::Stage stage;
    stage.choice_begin.push_back(0);
    std::size_t position = 0;
    for (State s = 0; s < model.states(); ++s) {
      const auto actions = model.row_end(h, s) - model.row_begin(h, s);
      require(position + actions <= weights[h].size(),
              "{} action weights of stage {}, must be one for each row of the model",
              weights[h].size(), h);
      for (std::int32_t a = 0; a < actions; ++a) {
        const double weight = weights[h][position + a];
        require(weight >= 0 && weight <= 1 + 1e-9,
                "weight {} of action {} in state {}, must be in [0, 1]", weight, a, s);
        if (weight == 0) continue;
        stage.choice_action.push_back(a);
        stage.choice_weight.push_back(weight);
      }
      position += actions;
      stage.choice_begin.push_back(static_cast<std::int64_t>(stage.choice_action.size()));
    }
    policy.stages.push_back(std::move(stage));
  }
  if (weights.size() == 1 && stages > 1) policy.repeats_last = true;
  check_policy(problem, policy);
  return policy;
}

namespace {

void check_decisions(const Problem& problem, const Policy::Stage& stage, int h) {
  const Model& model = problem.model();
  const auto nodes = stage.end(model.states() - 1);
  if (!stage.mixed.empty()) {
    require(static_cast<std::int64_t>(stage.mixed.size()) == nodes,
            "stage {} of the policy has {} decisions, must have {}", h, stage.mixed.size(), nodes);
  } else {
    require(static_cast<std::int64_t>(stage.choice_begin.size()) == nodes + 1,
            "stage {} of the policy has {} decisions, must have {}", h,
            static_cast<std::int64_t>(stage.choice_begin.size()) - 1, nodes);
  }
  for (State s = 0; s < model.states(); ++s) {
    const auto actions = model.row_end(h, s) - model.row_begin(h, s);
    if (actions == 0) continue;
    for (auto node = stage.begin(s); node < stage.end(s); ++node) {
      double sum = 0;
      for_each_choice(stage, node, [&](std::int32_t action, double weight) {
        require(action >= 0 && action < actions,
                "action {} of the policy in state {} at stage {}, must be in 0..{}", action, s, h,
                actions - 1);
        require(weight >= 0,
                "weight {} of the policy in state {} at stage {}, must not be negative", weight, s,
                h);
        sum += weight;
      });
      require(std::abs(sum - 1) <= 1e-9,
              "action weights of the policy in state {} at stage {} sum to {}, must sum to 1", s, h,
              sum);
    }
  }
}

}  // namespace

void check_policy(const Problem& problem, const Policy& policy) {
  const Model& model = problem.model();
  require(policy.states == model.states(), "the policy is for {} states, the problem has {}",
          policy.states, model.states());
  const auto stages = static_cast<int>(policy.stages.size());
  if (problem.infinite()) {
    require(policy.repeats_last && stages > 0,
            "the policy ends after {} stages, the problem has an infinite horizon", stages);
  } else {
    require(
        policy.repeats_last ? stages > 0 || problem.horizon() == 0 : stages >= problem.horizon(),
        "the policy ends after {} stages, the horizon is {}", stages, problem.horizon());
  }
  for (int h = 0; h < stages; ++h) {
    if (!problem.infinite() && h >= problem.horizon()) break;
    check_decisions(problem, policy.stages[h], h);
  }
}

}  // namespace redoubt
