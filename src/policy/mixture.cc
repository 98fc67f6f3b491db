#include "policy/mixture.h"

#include "model/submodel.h"
#include "policy/stage_builder.h"

namespace redoubt::internal {
namespace {

Policy::Stage stage_of_all(std::span<const Policy> policies, std::size_t h, State states) {
  StageBuilder all;
  for (State s = 0; s < states; ++s) {
    for (const Policy& policy : policies) {
      for_each_choice(policy.stages[h], s,
                      [&](std::int32_t action, double weight) { all.choose(action, weight); });
      all.end_node();
    }
  }
  Policy::Stage stage = all.take();
  stage.memory = static_cast<std::int32_t>(policies.size());
  return stage;
}

}  // namespace

Policy mixture_of(const Problem& problem, std::span<const Policy> policies,
                  std::span<const double> weights) {
  Policy all;
  all.states = policies.front().states;
  all.repeats_last = policies.front().repeats_last;
  for (std::size_t h = 0; h < policies.front().stages.size(); ++h)
    all.stages.push_back(stage_of_all(policies, h, all.states));
  all.start_begin.push_back(0);
  for (const State s : problem.start().states) {
    all.start_states.push_back(whole_number(problem.model(), s));
    for (std::size_t n = 0; n < weights.size(); ++n) {
      if (weights[n] > 0) all.start_moves.push_back({static_cast<std::int32_t>(n), weights[n]});
    }
    all.start_begin.push_back(static_cast<std::int64_t>(all.start_moves.size()));
  }
  return all;
}

}  // namespace redoubt::internal
