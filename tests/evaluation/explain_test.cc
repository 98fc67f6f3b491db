#include "redoubt/advanced/explain.h"

#include <gtest/gtest.h>

#include <numeric>

#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Under a nature against one total, what the stages earn adds up to its worst case.
TEST(Explain, StagesAddUpToTheWorstCase) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Problem problem = testing::random_problem(seed, testing::random_options(seed));
    if (problem.infinite() || problem.constraints().empty()) continue;
    for (const Policy& policy :
         {robust(problem).policy, rcvi(problem, {.budget_cells = 5}).policy}) {
      const Evaluation found = evaluate(problem, policy);
      const Course reward = course(problem, policy, {Nature::Against::reward});
      EXPECT_NEAR(sum(reward.earned[0]), found.reward.worst, 1e-9) << seed;
      const Course cost = course(problem, policy, {Nature::Against::constraint, 0});
      EXPECT_NEAR(sum(cost.earned[1]), found.constraints[0].worst, 1e-9) << seed;
      for (const auto& visits : cost.visits) EXPECT_LE(sum(visits), 1 + 1e-9);
      EXPECT_NEAR(sum(cost.row_visits), sum(cost.outcome_visits) + sum(cost.landing_visits), 1e-9);
      const Course nominal = course(problem, policy, {});
      EXPECT_EQ(sum(nominal.row_moved), 0.0);
    }
  }
}

TEST(Explain, ValuesOfTheFirstNodesAreTheTotals) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = testing::random_problem(seed);
    const Policy policy = rcvi(problem, {.budget_cells = 20}).policy;
    const Evaluation found = evaluate(problem, policy);
    const auto values = node_values(problem, policy);
    const auto node = policy.at(0).begin(0) + policy.start_memory;
    EXPECT_NEAR(values[0][0][node], found.reward.worst, 1e-12);
    EXPECT_NEAR(values[0][1][node], found.constraints[0].worst, 1e-12);
  }
}

}  // namespace
}  // namespace redoubt
