#include "policy/mixture.h"

#include <algorithm>

#include "model/submodel.h"
#include "policy/memory_update.h"
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

// Memory of a state: that of the first policy, then that of the second, and so on.
class WithMemory {
 public:
  WithMemory(const Problem& problem, std::span<const Policy> policies)
      : problem_(problem), model_(problem.model()), policies_(policies) {
    for (const Policy& policy : policies) stages_ = std::max(stages_, policy.stages.size());
  }

  Policy mix(std::span<const double> weights) const {
    Policy all;
    all.states = policies_.front().states;
    all.repeats_last = policies_.front().repeats_last;
    for (std::size_t h = 0; h < stages_; ++h) all.stages.push_back(stage(static_cast<int>(h)));
    all.start_begin.push_back(0);
    for (const State s : problem_.start().states) {
      all.start_states.push_back(s);
      for (std::size_t n = 0; n < weights.size(); ++n) {
        for (const MemoryMove& move : start_memory(policies_[n], s))
          all.start_moves.push_back({before(n, 0, s) + move.memory, weights[n] * move.weight});
      }
      all.start_begin.push_back(static_cast<std::int64_t>(all.start_moves.size()));
    }
    return all;
  }

 private:
  std::int32_t memory(std::size_t n, int h, State s) const {
    return static_cast<std::int32_t>(memory_of(policies_[n], policies_[n].stage_index(h), s));
  }
  std::int32_t before(std::size_t n, int h, State s) const {
    std::int32_t sum = 0;
    for (std::size_t other = 0; other < n; ++other) sum += memory(other, h, s);
    return sum;
  }

  Policy::Stage stage(int h) const {
    StageBuilder builder({.nodes_by_state = true, .moves_by_table = true});
    for (State s = 0; s < model_.states(); ++s) {
      for (std::size_t n = 0; n < policies_.size(); ++n)
        for (std::int32_t m = 0; m < memory(n, h, s); ++m) add_node(n, h, s, m, builder);
      builder.end_state();
    }
    return builder.take();
  }

  void add_node(std::size_t n, int h, State s, std::int32_t m, StageBuilder& builder) const {
    const Policy& policy = policies_[n];
    const bool ends = !policy.repeats_last && h + 1 >= static_cast<int>(stages_);
    const Policy::Stage& here = policy.at(h);
    const bool acts = model_.row_begin(h, s) < model_.row_end(h, s);
    std::vector<MemoryMove> moves;
    const auto add = [&](std::int32_t action, double weight) {
      if (weight <= 0) return;
      builder.choose(action, weight);
      const Decision taken = decision(policy, policy.stage_index(h), s, m, action);
      const Row row = model_.row_begin(h, s) + action;
      const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
      for (auto i = begin; i < end; ++i) {
        const State next = model_.arrays().next[i];
        memory_moves(problem_, policy, taken, i - begin, next, moves);
        for (const MemoryMove& move : moves)
          builder.move({ends ? 0 : before(n, h + 1, next) + move.memory, move.weight});
        builder.end_outcome();
      }
    };
    if (acts) for_each_choice(here, here.begin(s) + m, add);
    builder.end_node();
  }

  const Problem& problem_;
  const Model& model_;
  std::span<const Policy> policies_;
  std::size_t stages_ = 0;
};

bool has_memory(const Policy& policy) {
  return policy.memory_states() > 1 || !policy.budget.empty();
}

}  // namespace

Policy mixture_of(const Problem& problem, std::span<const Policy> policies,
                  std::span<const double> weights) {
  if (std::any_of(policies.begin(), policies.end(), has_memory))
    return WithMemory(problem, policies).mix(weights);
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
