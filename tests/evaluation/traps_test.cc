#include <gtest/gtest.h>

#include "redoubt/evaluate.h"
#include "redoubt/goal.h"
#include "redoubt/simulate.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "redoubt/worst_kernel.h"
#include "support/random_policy.h"

namespace redoubt {
namespace {

// From 0 an episode goes on to 1 and back; slips of a tenth, which total variation .1 can leave
// out, lead from 0 to 2 or 3 and from 1 to 3.
Problem to_and_fro(Objective objective, std::vector<Constraint> constraints = {}) {
  ModelBuilder builder(4, {});
  builder.add(0, 0, 0, {0.0, {}, {{1, 0.9}, {2, 0.05}, {3, 0.05}}});
  builder.add(0, 1, 0, {0.0, {}, {{0, 0.9}, {3, 0.1}}});
  builder.label("goal", {2});
  builder.label("crash", {3});
  Terms terms;
  terms.horizon = std::nullopt;
  terms.discount = 1;
  terms.uncertainty = TV{0.1, Reach::support};
  terms.objective = std::move(objective);
  terms.constraints = std::move(constraints);
  return {builder.build(), terms};
}

void expect_reward(const Problem& problem, double expected) {
  const Solution solution = robust(problem);
  EXPECT_EQ(solution.status, Status::certified);
  EXPECT_NEAR(solution.reward.worst, expected, 1e-12);
  EXPECT_NEAR(*solution.reward.bound, expected, 1e-12);
  EXPECT_NEAR(verify(problem, solution.policy).reward.worst, expected, 1e-12);
  const SimulateOptions options{.episodes = 50, .nature = {Nature::Against::reward}};
  EXPECT_NEAR(simulate(problem, solution.policy, options).reward.mean, expected, 1e-12);
}

TEST(Traps, NatureStaysOrLeavesByTheOutcomeThatItLikesBest) {
  expect_reward(to_and_fro({.signal = reach("goal")}), 0);
  expect_reward(to_and_fro({.signal = reach("goal"), .minimise = true}), -1);
  expect_reward(to_and_fro({.signal = avoid("crash")}), 0);
}

TEST(Traps, EachSignalHasANatureOfItsOwn) {
  const Problem problem = to_and_fro(
      {.signal = reach("goal")},
      {at_most(reach("crash"), 0.5), at_least(avoid("goal"), 0.5), at_least(reach("crash"), 0)});
  EXPECT_TRUE(problem.traps());
  const Policy policy = robust(problem).policy;
  for (const Evaluation& found : {evaluate(problem, policy), verify(problem, policy)}) {
    EXPECT_NEAR(found.reward.worst, 0, 1e-12);
    EXPECT_NEAR(found.constraints[0].worst, 1, 1e-12);
    EXPECT_NEAR(found.constraints[1].worst, 0, 1e-12);
    EXPECT_NEAR(found.constraints[2].worst, 0, 1e-12);
    EXPECT_FALSE(found.constraints[0].satisfied);
  }
  const AchievableRange range = achievable_range(problem, 0);
  EXPECT_NEAR(range.best, 1, 1e-9);
  EXPECT_NEAR(range.worst, 1, 1e-9);
}

// Memory that is drawn, and that nothing depends on, changes nothing.
TEST(Traps, MemoryMayBeDrawn) {
  const Problem problem = to_and_fro({.signal = reach("crash"), .minimise = true},
                                     {at_least(avoid("goal"), 0.5), at_least(reach("crash"), 0)});
  const Policy policy = robust(problem).policy;
  const Policy drawn =
      testing::with_idle_memory(problem, policy, {{{{0, 0.25}, {1, 0.75}}, {{0, 0.5}, {1, 0.5}}}});
  const Evaluation expected = evaluate(problem, policy);
  EXPECT_NEAR(expected.reward.worst, -1, 1e-12);
  for (const Evaluation& found : {evaluate(problem, drawn), verify(problem, drawn)})
    testing::expect_same(found, expected, 1e-12);
}

// Where nature wants to leave, its kernel leads there and not to and fro.
TEST(Traps, TheWorstKernelLeaves) {
  const Problem problem = to_and_fro({.signal = reach("goal"), .minimise = true});
  const Policy policy = robust(problem).policy;
  WorstKernel kernel(problem, policy, {Nature::Against::reward});
  EXPECT_FALSE(kernel.keeps(0, 0, 0));
  const RowDistribution there = kernel.at(0, 0, 0, 0);
  EXPECT_GT(there.probability[1], 0.05);
  EXPECT_NEAR(there.probability[2], 0, 1e-12);
  EXPECT_NEAR(there.value, -1, 1e-9);
  EXPECT_NEAR(kernel.at(0, 1, 0, 0).probability[0], 1, 1e-12);
  const Problem both = to_and_fro({.signal = reach("goal")}, {at_most(reach("crash"), 0.5)});
  const Policy other = robust(both).policy;
  EXPECT_TRUE(WorstKernel(both, other, {Nature::Against::reward}).keeps(0, 1, 0));
  EXPECT_FALSE(WorstKernel(both, other, {Nature::Against::constraint, 0}).keeps(0, 1, 0));
}

}  // namespace
}  // namespace redoubt
