#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"

// What the design says of RCVI on problems that can be worked out by hand or were computed
// elsewhere.
namespace redoubt {
namespace {

// Mixing weights are multiples of 1 / 65535.
constexpr double kWeight = 1 / 65535.0;

TEST(Fork, RememberingTheWayEarnsBoth) {
  for (const double radius : {0.05, 0.1, 0.2}) {
    SCOPED_TRACE(radius);
    const Solution solution = rcvi(make(fmt::format("fork(radius={})", radius)));
    EXPECT_NEAR(solution.reward.worst, 1, 1e-12);
    EXPECT_NEAR(solution.constraints[0].worst, 1, 1e-12);
    EXPECT_EQ(solution.status, Status::feasible);
    EXPECT_NEAR(*solution.hopeless, 0, 1e-12);
  }
}

TEST(Fork, NatureMaySkipTheForkWhenItReachesAnywhere) {
  for (const double radius : {0.05, 0.1, 0.2}) {
    const Solution solution = rcvi(make(fmt::format("fork(radius={},reach=anywhere)", radius)));
    EXPECT_EQ(solution.status, Status::violated);
    EXPECT_LT(solution.constraints[0].worst, 1 - radius / 2);
  }
}

// The only decision is at s3, in the last stage: all policies without memory are a line.
TEST(Fork, BestPolicyWithoutMemoryGivesUpTwiceTheRadius) {
  for (const double radius : {0.05, 0.1, 0.2}) {
    SCOPED_TRACE(radius);
    const Problem problem = make(fmt::format("fork(radius={})", radius));
    double best = 0;
    for (int i = 0; i <= 1000; ++i) {
      const double a = i / 1000.0;
      const Policy policy = markov_policy(problem, {{1, 1, 1, a, 1 - a}});
      const Evaluation evaluation = evaluate(problem, policy);
      if (evaluation.satisfied()) best = std::max(best, evaluation.reward.worst);
    }
    EXPECT_NEAR(best, 1 - 2 * radius, 1e-9);
  }
}

TEST(Hedge, AsksEachBranchForWhatOnlyBothCanGive) {
  const Solution solution = rcvi(make("hedge"));
  EXPECT_EQ(solution.status, Status::violated);
  EXPECT_NEAR(solution.constraints[0].worst, 0.25, 1e-12);
  EXPECT_NEAR(solution.reward.worst, 0.75, 1e-12);
  EXPECT_NEAR(*solution.hopeless, 1, 1e-12);  // the start itself falls short
  // b at x and a at y keeps it.
  const Problem problem = make("hedge");
  const Evaluation by_hand = evaluate(problem, markov_policy(problem, {{1, 0, 1, 1, 0}}));
  EXPECT_TRUE(by_hand.satisfied());
  EXPECT_NEAR(by_hand.reward.worst, 0.5, 1e-12);
}

Problem river(int start) { return make(fmt::format("river_swim(horizon=10,start={})", start)); }

TEST(RiverSwim, TheTableOfTheDesign) {
  const std::vector<double> coarse = {0.021, 0.078, 0.313, 0.645},
                            exact = {0.021, 0.079, 0.320, 0.726};
  for (int start = 0; start < 4; ++start) {
    SCOPED_TRACE(start);
    const Solution rounded = rcvi(river(start), {.budget_step = 0.05});
    EXPECT_NEAR(rounded.reward.worst, coarse[start], 5e-4);
    EXPECT_EQ(rounded.status, Status::feasible);
    const Solution lattice = rcvi(river(start));
    EXPECT_TRUE(lattice.policy.budget[0].exact);
    EXPECT_NEAR(lattice.policy.budget[0].step, 0.005, 1e-12);
    EXPECT_NEAR(lattice.reward.worst, exact[start], 5e-4);
    EXPECT_EQ(lattice.status, Status::feasible);
    EXPECT_LE(lattice.constraints[0].worst, 4 + 1e-9);
  }
}

TEST(RiverSwim, GivesUpFromTheLastTwoStates) {
  for (const int start : {4, 5}) {
    EXPECT_EQ(rcvi(river(start)).status, Status::violated);
    EXPECT_EQ(rcvi(river(start), {.budget_step = 0.05}).status, Status::violated);
  }
  EXPECT_LT(achievable_range(river(4), 0).best, 4);  // it could be kept from s4
  EXPECT_GT(achievable_range(river(5), 0).best, 4);  // by nobody from s5
}

TEST(RiverSwim, EachStartGetsTheWholeBudgetAndTheStatusTellsTheTruth) {
  const Problem problem = make("river_swim(horizon=10,start=uniform)");
  const Solution together = rcvi(problem);
  double reward = 0, cost = 0;
  for (int start = 0; start < 6; ++start) {
    const Solution alone = rcvi(river(start));
    reward += alone.reward.worst / 6;
    cost += alone.constraints[0].worst / 6;
  }
  EXPECT_NEAR(together.reward.worst, reward, 1e-9);
  EXPECT_NEAR(together.constraints[0].worst, cost, 1e-9);
  EXPECT_EQ(together.status, cost <= 4 ? Status::feasible : Status::violated);
  EXPECT_EQ(together.constraints[0].satisfied, cost <= 4);
}

// With one state, two actions (1, 0) and (0, 1) in (reward, utility) and a utility of at least a
// quarter: three quarters of the reward.
Problem two_actions(int horizon, double bound) {
  ModelBuilder builder(1, {"utility"});
  builder.add(0, 0, 0, {1, {0}, {{0, 1}}});
  builder.add(0, 0, 1, {0, {1}, {{0, 1}}});
  Terms terms;
  terms.horizon = horizon;
  terms.constraints = {at_least("utility", bound)};
  terms.uncertainty = KL{0.1};
  return Problem(builder.build(), terms);
}

TEST(Small, NoDecision) {
  const Solution met = rcvi(two_actions(0, -1)), missed = rcvi(two_actions(0, 0.25));
  EXPECT_EQ(met.status, Status::feasible);
  EXPECT_EQ(met.reward.worst, 0);
  EXPECT_EQ(missed.status, Status::violated);
  EXPECT_EQ(missed.constraints[0].worst, 0);
  EXPECT_EQ(robust(two_actions(0, 0)).reward.worst, 0);
  EXPECT_EQ(nominal(two_actions(0, 0)).reward.worst, 0);
}

TEST(Small, OneDecision) {
  const Solution solution = rcvi(two_actions(1, 0.25));
  EXPECT_NEAR(solution.reward.worst, 0.75, kWeight);
  EXPECT_NEAR(solution.constraints[0].worst, 0.25, kWeight);
  EXPECT_GE(solution.constraints[0].worst, 0.25 - 1e-9);
  EXPECT_EQ(solution.status, Status::feasible);
  EXPECT_EQ(rcvi(two_actions(1, 1)).reward.worst, 0);
  EXPECT_EQ(rcvi(two_actions(1, 0)).reward.worst, 1);
  EXPECT_EQ(rcvi(two_actions(1, 1.5)).status, Status::violated);
  EXPECT_EQ(rcvi(two_actions(1, 1.5)).reward.worst, 1);  // gives up and earns
}

TEST(Small, OneStateManyDecisions) {
  const Solution solution = rcvi(two_actions(7, 2.5));
  EXPECT_NEAR(solution.reward.worst, 4.5, 7 * kWeight);
  EXPECT_NEAR(solution.constraints[0].worst, 2.5, 7 * kWeight);
  EXPECT_EQ(solution.status, Status::feasible);
}

TEST(Small, TiesAreNotCounted) {
  ModelBuilder builder(1, {"utility"});
  for (int a = 0; a < 5; ++a) builder.add(0, 0, a, {1, {1}, {{0, 1}}});
  Terms terms;
  terms.horizon = 3;
  terms.constraints = {at_least("utility", 3)};
  const Solution solution = rcvi(Problem(builder.build(), terms));
  EXPECT_EQ(solution.reward.worst, 3);
  EXPECT_EQ(solution.constraints[0].worst, 3);
  EXPECT_EQ(solution.status, Status::feasible);
}

}  // namespace
}  // namespace redoubt
