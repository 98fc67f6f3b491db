#include "support/random_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "policy/stage_builder.h"
#include "redoubt/solve.h"
#include "support/random.h"

namespace redoubt::testing {
using namespace internal;
namespace {

// Some entries are zero, but not all.
std::vector<double> sparse_distribution(Random& random, int count) {
  std::vector<double> weights(count);
  for (double& w : weights) w = random.uniform() < 0.3 ? 0 : random.uniform();
  weights[random.below(count)] += 0.1;
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return weights;
}

int stages_of(const Problem& problem) { return problem.infinite() ? 2 : problem.horizon(); }

// Memory states of a state at a stage of a table policy; one at the end of the horizon.
int memory_of(const Policy& policy, const Problem& problem, int h, State s) {
  if (!problem.infinite() && h >= problem.horizon()) return 1;
  return static_cast<int>(policy.at(h).end(s) - policy.at(h).begin(s));
}

void add_moves(Random& random, int memory, std::vector<std::int64_t>& begin,
               std::vector<MemoryMove>& moves) {
  const std::vector<double> weights = sparse_distribution(random, memory);
  for (int m = 0; m < memory; ++m) {
    if (weights[m] > 0) moves.push_back({m, weights[m]});
  }
  begin.push_back(static_cast<std::int64_t>(moves.size()));
}

void add_table(Random& random, const Problem& problem, Policy& policy, int h) {
  constexpr int kPlans = 2;
  const Model& model = problem.model();
  Policy::Stage& stage = policy.stages[h];
  stage.move_begin = stage.landing_begin = {0};
  for (State s = 0; s < policy.states; ++s) {
    if (model.row_begin(h, s) == model.row_end(h, s)) continue;
    for (auto c = stage.choice_begin[stage.begin(s)]; c < stage.choice_begin[stage.end(s)]; ++c) {
      const Row row = model.row_begin(h, s) + stage.choice_action[c];
      stage.outcome_slot.push_back(static_cast<std::int64_t>(stage.move_begin.size()) - 1);
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
        add_moves(random, memory_of(policy, problem, h + 1, model.arrays().next[i]),
                  stage.move_begin, stage.moves);
      }
      add_moves(random, kPlans, stage.move_begin, stage.moves);
    }
  }
  for (int plan = 0; plan < kPlans; ++plan) {
    for (State s = 0; s < policy.states; ++s) {
      add_moves(random, memory_of(policy, problem, h + 1, s), stage.landing_begin,
                stage.landing_moves);
    }
  }
}

}  // namespace

Policy random_markov_policy(std::uint64_t seed, const Problem& problem) {
  Random random(seed);
  const Model& model = problem.model();
  std::vector<std::vector<double>> weights(problem.infinite() ? 1 : problem.horizon());
  for (std::size_t h = 0; h < weights.size(); ++h) {
    for (State s = 0; s < model.states(); ++s) {
      const auto actions =
          model.row_end(static_cast<int>(h), s) - model.row_begin(static_cast<int>(h), s);
      if (actions == 0) continue;
      for (const double w : sparse_distribution(random, static_cast<int>(actions)))
        weights[h].push_back(w);
    }
  }
  if (weights.empty()) weights.emplace_back();
  return markov_policy(problem, weights);
}

Policy random_table_policy(std::uint64_t seed, const Problem& problem) {
  Random random(seed);
  const Model& model = problem.model();
  Policy policy;
  policy.states = model.states();
  policy.repeats_last = problem.infinite();
  policy.stages.resize(stages_of(problem));
  for (int h = 0; h < stages_of(problem); ++h) {
    StageBuilder stage({.nodes_by_state = true});
    for (State s = 0; s < policy.states; ++s) {
      const auto actions = static_cast<int>(model.row_end(h, s) - model.row_begin(h, s));
      const int memory = 1 + random.below(4);
      for (int m = 0; m < memory; ++m) {
        const std::vector<double> weights =
            actions == 0 ? std::vector<double>() : sparse_distribution(random, actions);
        for (int a = 0; a < actions; ++a) {
          if (weights[a] > 0) stage.choose(a, weights[a]);
        }
        stage.end_node();
      }
      stage.end_state();
    }
    policy.stages[h] = stage.take();
  }
  for (int h = 0; h < stages_of(problem); ++h) add_table(random, problem, policy, h);
  policy.start_begin = {0};
  for (const State s : problem.start().states) {
    policy.start_states.push_back(s);
    add_moves(random, memory_of(policy, problem, 0, s), policy.start_begin, policy.start_moves);
  }
  check_policy(problem, policy);
  return policy;
}

Policy random_budget_policy(std::uint64_t seed, const Problem& problem, Rounding rounding) {
  Random random(seed);
  const Model& model = problem.model();
  const RcviPlan plan =
      plan_rcvi(problem, {.budget_cells = 4, .rounding = rounding, .tolerance = 0.1});
  Policy policy;
  policy.states = model.states();
  policy.budget = plan.axes;
  policy.repeats_last = problem.infinite();
  policy.stages.resize(plan.stages + (problem.infinite() ? 1 : 0));
  for (int h = 0; h < static_cast<int>(policy.stages.size()); ++h) {
    Policy::Stage& stage = policy.stages[h];
    stage.memory = 1;
    for (BudgetAxis& axis : policy.budget) {
      if (h == plan.stages) axis.cells[h] = 1;
      stage.memory *= axis.cells[h];
    }
    for (State s = 0; s < policy.states; ++s) {
      const auto actions = static_cast<int>(model.row_end(h, s) - model.row_begin(h, s));
      for (int m = 0; m < stage.memory; ++m) {
        MixedChoice choice;
        if (actions > 0) {
          choice.safe = static_cast<std::uint8_t>(random.below(actions));
          choice.other = static_cast<std::uint8_t>(random.below(actions));
          choice.weight = static_cast<std::uint16_t>(random.below(65536));
        }
        stage.mixed.edit().push_back(choice);
      }
    }
  }
  for (const BudgetAxis& axis : policy.budget)
    policy.start_memory = policy.start_memory * axis.cells[0] + axis.start();
  check_policy(problem, policy);
  return policy;
}

Policy with_idle_memory(const Problem& problem, const Policy& policy,
                        const std::array<std::vector<MemoryMove>, 2>& moves) {
  const Model& model = problem.model();
  internal::StageBuilder build({.nodes_by_state = true, .moves_by_table = true});
  for (State s = 0; s < model.states(); ++s) {
    for (const std::vector<MemoryMove>& drawn : moves) {
      if (model.row_begin(0, s) < model.row_end(0, s))
        for_each_choice(policy.stages[0], s, [&](std::int32_t action, double weight) {
          build.choose(action, weight);
          const Row row = model.row_begin(0, s) + action;
          for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
            for (const MemoryMove& move : drawn) build.move(move);
            build.end_outcome();
          }
        });
      build.end_node();
    }
    build.end_state();
  }
  Policy same = policy;
  same.stages = {build.take()};
  return same;
}

void expect_same(const Evaluation& a, const Evaluation& b, double tolerance) {
  double scale = std::max({1.0, std::abs(a.reward.worst), std::abs(b.reward.worst)});
  EXPECT_NEAR(a.reward.worst, b.reward.worst, tolerance * scale);
  ASSERT_EQ(a.constraints.size(), b.constraints.size());
  for (std::size_t c = 0; c < a.constraints.size(); ++c) {
    scale = std::max({1.0, std::abs(a.constraints[c].worst), std::abs(b.constraints[c].worst)});
    EXPECT_NEAR(a.constraints[c].worst, b.constraints[c].worst, tolerance * scale);
    EXPECT_EQ(a.constraints[c].satisfied, b.constraints[c].satisfied);
  }
  ASSERT_EQ(a.hopeless.has_value(), b.hopeless.has_value());
  if (a.hopeless) {
    EXPECT_NEAR(*a.hopeless, *b.hopeless, tolerance);
  }
}

}  // namespace redoubt::testing
