// Evaluation where the rows of a state share a radius.
#include <gtest/gtest.h>

#include <cmath>

#include "model/set_traits.h"
#include "redoubt/evaluate.h"
#include "redoubt/simulate.h"
#include "redoubt/verify.h"
#include "redoubt/worst_kernel.h"
#include "support/on_ranks.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::kSharedSets;

class StateScope : public ::testing::TestWithParam<int> {
 protected:
  // All shapes; every fifth has an infinite horizon.
  testing::RandomOptions options(std::uint64_t seed) const {
    testing::RandomOptions o;
    o.states = 4;
    o.horizon = 3;
    o.discount = seed % 3 == 0 ? 0.9 : 1;
    o.uncertainty = kSharedSets[GetParam()];
    o = testing::shaped(o, seed);
    if (seed % 5 == 4) o.horizon = {}, o.discount = 0.8, o.stage_dependent = false;
    return o;
  }
  Problem problem(std::uint64_t seed) const { return testing::random_problem(seed, options(seed)); }
};

TEST_P(StateScope, AgreesWithLongDouble) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = problem(seed);
    for (const Policy& policy :
         {testing::random_markov_policy(seed, p), testing::random_table_policy(seed, p)})
      testing::expect_same(evaluate(p, policy), verify(p, policy), 1e-10);
    for (const Rounding rounding : {Rounding::up, Rounding::mixed}) {
      const Policy policy = testing::random_budget_policy(seed, p, rounding);
      testing::expect_same(evaluate(p, policy), verify(p, policy), 1e-10);
    }
  }
}

// A nature that has to share its radius is no stronger, and against one action at a time as strong.
TEST_P(StateScope, IsNeverWorseThanRowScope) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = problem(seed), alone = testing::with_row_scope(p);
    const Policy mixed = testing::random_table_policy(seed, p);
    const double shared = evaluate(p, mixed).reward.worst,
                 each = evaluate(alone, mixed).reward.worst;
    EXPECT_GE(shared, each - 1e-10);
    better += shared > each + 1e-6;
    std::vector<std::vector<double>> first(p.infinite() ? 1 : p.horizon());
    for (int h = 0; h < static_cast<int>(first.size()); ++h) {
      const Model& model = p.model();
      for (State s = 0; s < model.states(); ++s) {
        const auto count = model.row_end(h, s) - model.row_begin(h, s);
        for (Row a = 0; a < count; ++a) first[h].push_back(a == 0 ? 1.0 : 0.0);
      }
    }
    const Policy pure = markov_policy(p, first);
    testing::expect_same(evaluate(p, pure), evaluate(alone, pure), 1e-10);
  }
  EXPECT_GT(better, 10);
}

// One state, one decision, by hand: two actions that earn 0 or 1 with probability 1/2 each. With
// weight w on the first, mass moved in an action gains its weight, so tv takes from the larger.
TEST(StateScopeByHand, NatureKnowsTheWeightsAndNotTheDraw) {
  ModelBuilder builder(1, {}, 1);
  for (int a = 0; a < 2; ++a)
    builder.add(0, 0, a, {0.0, {}, {{0, 0.5, 0.0, {}}, {0, 0.5, 1.0, {}}}});
  Terms terms;
  terms.horizon = 1;
  terms.uncertainty = TV{0.2, Reach::support, Scope::state};
  const Problem problem(builder.build(), terms);
  const auto worst = [&](double w) {
    return evaluate(problem, markov_policy(problem, {{w, 1 - w}})).reward.worst;
  };
  EXPECT_NEAR(worst(1), 0.3, 1e-15);
  EXPECT_NEAR(worst(0.5), 0.4, 1e-15);
  EXPECT_NEAR(worst(0.75), 0.5 - 0.2 * 0.75, 1e-15);
  // Two memory states before the node, each with its action: nature sees which one it is.
  Policy remembers = markov_policy(problem, {{1, 0}});
  Policy::Stage& stage = remembers.stages[0];
  stage.memory = 2;
  stage.mixed = {};
  stage.choice_begin = {0, 1, 2};
  stage.choice_action = {0, 1};
  stage.choice_weight = {1, 1};
  remembers.start_states = {0};
  remembers.start_begin = {0, 2};
  remembers.start_moves = {{0, 0.5}, {1, 0.5}};
  check_policy(problem, remembers);
  EXPECT_NEAR(evaluate(problem, remembers).reward.worst, 0.3, 1e-15);
  EXPECT_NEAR(verify(problem, remembers).reward.worst, 0.3, 1e-15);
}

// Playing nature's kernels gives the worst case, and their distances keep to the radius.
TEST_P(StateScope, TheWorstKernelIsInTheSetAndAttainsTheValue) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomOptions o = options(seed);
    if (!o.horizon) continue;
    const Problem p = testing::random_problem(seed, o);
    const Model& model = p.model();
    const Policy policy = testing::random_markov_policy(seed, p);
    const MarkovKernel kernel = worst_kernel(p, policy, nature_of(p, "worst-reward"));
    std::vector<double> next(model.states(), 0.0), values(model.states());
    for (int h = p.horizon(); h-- > 0;) {
      for (State s = 0; s < model.states(); ++s) {
        double value = 0, spent = 0;
        const Row first = model.row_begin(h, s);
        for_each_choice(policy.at(h), s, [&](std::int32_t a, double weight) {
          if (first == model.row_end(h, s)) return;
          const Row row = first + a;
          double mean = model.value(-1, row);
          for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
            const double P = kernel.probability[h][i], q = model.arrays().probability[i];
            mean += P * (model.outcome_value(-1, i) + p.discount() * next[model.arrays().next[i]]);
            const Uncertainty& set = p.uncertainty();
            if (std::holds_alternative<TV>(set)) spent += std::abs(P - q) / 2;
            if (std::holds_alternative<Chi2>(set)) spent += (P - q) * (P - q) / q;
            if (std::holds_alternative<KL>(set) && P > 0) spent += P * std::log(P / q);
          }
          if (kernel.landing[h][row] > 0) {
            const State to = kernel.landing_state[h][row];
            spent += kernel.landing[h][row] / 2;
            mean +=
                kernel.landing[h][row] * (model.arrival_value(-1, to) + p.discount() * next[to]);
          }
          value += weight * mean;
        });
        values[s] = value;
        if (first == model.row_end(h, s)) continue;
        const double radius = std::visit(
            [&](const auto& set) {
              if constexpr (requires { set.radius; }) return set.radius.of(first);
              return 0.0;
            },
            p.uncertainty());
        EXPECT_LE(spent, radius * (1 + 1e-6) + 1e-9);
      }
      next = values;
    }
    double total = 0;
    for (std::size_t i = 0; i < p.start().states.size(); ++i)
      total += p.start().probability[i] * next[p.start().states[i]];
    EXPECT_NEAR(total, evaluate(p, policy).reward.worst, 1e-8);
  }
}

TEST_P(StateScope, SimulationTendsToTheEvaluation) {
  const Problem p = problem(1);
  const Policy policy = testing::random_table_policy(1, p);
  SimulateOptions options;
  options.episodes = 20000;
  options.nature = nature_of(p, "worst-reward");
  const Simulation found = simulate(p, policy, options);
  EXPECT_NEAR(found.reward.mean, evaluate(p, policy).reward.worst, 5 * found.reward.standard_error);
}

// The same bits on any number of ranks and threads.
TEST_P(StateScope, RanksDoNotChangeTheEvaluation) {
  for (const std::uint64_t seed : {4, 9}) {
    SCOPED_TRACE(seed);
    testing::RandomOptions o = options(seed);
    o.states = 11;
    const Problem p = testing::random_problem(seed, o);
    testing::expect_same_evaluation(p, seed == 4 ? testing::random_markov_policy(seed, p)
                                                 : testing::random_table_policy(seed, p));
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, StateScope, ::testing::Range(0, 4));

}  // namespace
}  // namespace redoubt
