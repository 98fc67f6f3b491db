#include "redoubt/policy.h"

#include <algorithm>

#include "policy/budget.h"
#include "policy/stage_builder.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

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
    const auto rows = model.row_end(h, model.states() - 1) - model.row_begin(h, 0);
    require(static_cast<Row>(weights[h].size()) == rows,
            "{} action weights of stage {}, must be one for each of its {} rows", weights[h].size(),
            h, rows);
    StageBuilder stage;
    std::size_t position = 0;
    for (State s = 0; s < model.states(); ++s) {
      const auto actions = model.row_end(h, s) - model.row_begin(h, s);
      for (std::int32_t a = 0; a < actions; ++a) {
        const double weight = weights[h][position + a];
        require(weight >= 0 && weight <= 1 + 1e-9,
                "weight {} of action {} in state {}, must be in [0, 1]", weight, a, s);
        if (weight > 0) stage.choose(a, weight);
      }
      position += actions;
      stage.end_node();
    }
    policy.stages.push_back(stage.take());
  }
  if (weights.size() == 1 && stages > 1) policy.repeats_last = true;
  check_policy(problem, policy);
  return policy;
}

}  // namespace redoubt
