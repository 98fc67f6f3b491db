#include "solvers/column_generation/column_generation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "support/random_problem.h"

// Optima are compared with linear programs in tests/python/test_frontier.py.
namespace redoubt {
using namespace internal;
namespace {

using testing::random_problem;
using testing::RandomOptions;

NominalOptimum columns_of(const Problem& problem, const ColumnGenerationOptions& options = {}) {
  const Execution execution;
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  return generate_columns(problem, options, workers, watch);
}

RandomOptions nominal(std::uint64_t seed, int constraints) {
  RandomOptions options = testing::shaped({}, seed % 16);
  options.uncertainty = Nominal{};
  options.constraints = options.signals = constraints;
  if (seed % 3 == 2)
    options.horizon.reset(), options.discount = 0.9, options.stage_dependent = false;
  return options;
}

TEST(ColumnGeneration, ColumnsHaveTheTotalsOfTheirPolicies) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = random_problem(seed, nominal(seed, 1 + static_cast<int>(seed % 3)));
    const NominalOptimum found = columns_of(problem);
    for (const Column& column : found.columns) {
      const Evaluation evaluated = evaluate(problem, column.policy);
      EXPECT_NEAR(column.totals[0], evaluated.reward.worst, 1e-9);
      for (std::size_t c = 0; c < evaluated.constraints.size(); ++c)
        EXPECT_NEAR(channel_of(problem, static_cast<int>(c)).sign * column.totals[c + 1],
                    evaluated.constraints[c].worst, 1e-9);
    }
  }
}

// At most one policy more than there are constraints is drawn, and the mixture is as good as its
// bound.
TEST(ColumnGeneration, FewPoliciesAreDrawnAndTheGapIsClosed) {
  int mixtures = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const int constraints = 1 + static_cast<int>(seed % 3);
    const Problem problem = random_problem(seed, nominal(seed, constraints));
    const NominalOptimum found = columns_of(problem, {.tolerance = 1e-9});
    if (found.end == NominalOptimum::End::infeasible) continue;
    ASSERT_EQ(found.end, NominalOptimum::End::converged);
    ASSERT_TRUE(found.reachable);
    int drawn = 0;
    double reward = 0;
    for (std::size_t n = 0; n < found.mixture.size(); ++n) {
      drawn += found.mixture[n] > 0 ? 1 : 0;
      reward += found.mixture[n] * found.columns[n].totals[0];
    }
    EXPECT_LE(drawn, constraints + 1);
    mixtures += drawn > 1 ? 1 : 0;
    EXPECT_NEAR(reward, *found.bound, 1e-8);
  }
  EXPECT_GT(mixtures, 10);
}

TEST(ColumnGeneration, WithoutConstraintsIsValueIteration) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = random_problem(seed, nominal(seed, 0));
    const NominalOptimum found = columns_of(problem);
    ASSERT_EQ(found.columns.size(), 1u);
    EXPECT_NEAR(found.columns[0].totals[0], robust(problem).reward.worst, 1e-9) << seed;
  }
}

TEST(ColumnGeneration, ProvesWhatIsOutOfReach) {
  const Problem far = make("river_swim(horizon=10,start=3,bound=0,set=none)");
  const NominalOptimum found = columns_of(far);
  EXPECT_EQ(found.end, NominalOptimum::End::infeasible);
  EXPECT_GT(-*found.best[0], 0);
  // Each on its own can be met, both cannot.
  Terms terms = far.terms();
  terms.constraints = {at_most("cost", 1.5), at_least("cost", 1.6)};
  EXPECT_EQ(columns_of(far.with(terms)).end, NominalOptimum::End::infeasible);
  terms.constraints = {at_most("cost", 1.6), at_least("cost", 1.5)};
  EXPECT_EQ(columns_of(far.with(terms)).end, NominalOptimum::End::converged);
}

TEST(ColumnGeneration, TheWholeCurveHasMorePoints) {
  const Problem problem = make("river_swim(horizon=10,start=3,bound=2,set=none)");
  const Solution answer = frontier(problem), whole = frontier(problem, {.whole_curve = true});
  EXPECT_GT(whole.curve.size(), answer.curve.size());
  EXPECT_GE(whole.reward.worst, answer.reward.worst);
  for (std::size_t n = 1; n < whole.curve.size(); ++n) {
    EXPECT_LT(whole.curve[n].reward, whole.curve[n - 1].reward);
    EXPECT_LT(whole.curve[n].constraints[0], whole.curve[n - 1].constraints[0]);
  }
}

TEST(ColumnGeneration, NothingToDecide) {
  const NominalOptimum none = columns_of(make("river_swim(horizon=0,set=none)"));
  EXPECT_EQ(none.end, NominalOptimum::End::converged);
  EXPECT_EQ(none.bound, 0.0);
}

}  // namespace
}  // namespace redoubt
