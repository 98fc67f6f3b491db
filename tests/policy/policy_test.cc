#include "redoubt/policy.h"

#include <gtest/gtest.h>

#include "policy/budget.h"
#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;
using ::testing::HasSubstr;

Problem small() { return testing::random_problem(3, {.states = 3, .actions = 2, .horizon = 2}); }

TEST(MarkovPolicy, WeightsForOneStageServeAll) {
  const Problem problem = small();
  const std::vector<double> weights = {0.25, 0.75, 0, 1, 1, 0};
  const Policy one = markov_policy(problem, {weights});
  const Policy two = markov_policy(problem, {weights, weights});
  EXPECT_TRUE(one.repeats_last);
  EXPECT_EQ(evaluate(problem, one).reward.worst, evaluate(problem, two).reward.worst);
  EXPECT_EQ(one.memory_states(), 1);
}

TEST(MarkovPolicy, SaysWhatIsWrong) {
  const Problem problem = small();
  const auto refuse = [&](std::vector<std::vector<double>> weights) {
    return error_of([&] { markov_policy(problem, weights); });
  };
  EXPECT_THAT(refuse({{1, 0, 1, 0, 1}}), HasSubstr("5 action weights of stage 0"));
  EXPECT_THAT(refuse({{1, 0, 1, 0, 1, 0, 0}}), HasSubstr("7 action weights of stage 0"));
  EXPECT_THAT(refuse({{1, 0, 1, 0, 0.5, 0}}), HasSubstr("in state 2 at stage 0 sum to 0.5"));
  EXPECT_THAT(refuse({{1, 0, 1, 0, 2, -1}}), HasSubstr("weight 2 of action 0 in state 2"));
  const std::vector<double> good = {1, 0, 1, 0, 1, 0};
  EXPECT_THAT(refuse({good, good, good}), HasSubstr("3 stages of action weights"));
}

// A policy that fits the first stage of a model need not fit the next.
TEST(CheckPolicy, LooksAtEveryStageOfTheModel) {
  ModelBuilder builder(1, {}, 2);
  for (const int a : {0, 1}) builder.add(0, 0, a, {0, {}, {{0, 1}}});
  builder.add(1, 0, 0, {0, {}, {{0, 1}}});
  const Problem problem(builder.build(), {.horizon = 2});
  EXPECT_THAT(error_of([&] {
                markov_policy(problem, {{0, 1}});
              }),
              HasSubstr("action 1 of the policy in state 0 at stage 1, must be in 0..0"));
}

class Broken : public ::testing::Test {
 protected:
  Problem problem = testing::random_problem(3, {.states = 3, .horizon = 2, .uncertainty = TV{0.1}});
  Policy policy = testing::random_table_policy(3, problem);

  std::string error() {
    return error_of([&] { check_policy(problem, policy); });
  }
};

TEST_F(Broken, States) {
  policy.states = 4;
  EXPECT_THAT(error(), HasSubstr("the policy is for 4 states, the problem has 3"));
}
TEST_F(Broken, Stages) {
  policy.stages.pop_back();
  EXPECT_THAT(error(), HasSubstr("the policy ends after 1 stages, the horizon is 2"));
}
TEST_F(Broken, Nodes) {
  policy.stages[1].node_begin[1] = policy.stages[1].node_begin[2] + 1;
  EXPECT_THAT(error(), HasSubstr("node_begin of stage 1"));
}
TEST_F(Broken, Action) {
  policy.stages[1].choice_action[0] = 3;
  EXPECT_THAT(error(), HasSubstr("action 3 of the policy in state 0 at stage 1"));
}
TEST_F(Broken, Weights) {
  policy.stages[0].choice_weight[0] += 0.01;
  EXPECT_THAT(error(), HasSubstr("action weights of the policy in state 0 at stage 0"));
}
TEST_F(Broken, MoveWeights) {
  policy.stages[0].moves[0].weight -= 0.01;
  EXPECT_THAT(error(), HasSubstr("memory moves of stage 0"));
}
TEST_F(Broken, MoveTarget) {
  policy.stages[0].moves[0].memory = 9;
  EXPECT_THAT(error(), HasSubstr("lead to memory 9"));
}
TEST_F(Broken, MoveBeyondTheEnd) {
  policy.stages[1].moves[0].memory = 1;
  EXPECT_THAT(error(), HasSubstr("lead to memory 1 of state"));
}
TEST_F(Broken, LandingPlans) {
  policy.stages[0].landing_begin.clear();
  EXPECT_THAT(error(), HasSubstr("has no landing plans"));
}
TEST_F(Broken, LandingTarget) {
  policy.stages[0].landing_moves[0].memory = -1;
  EXPECT_THAT(error(), HasSubstr("landing moves of stage 0 of the policy lead to memory -1"));
}
TEST_F(Broken, Slots) {
  policy.stages[0].outcome_slot.pop_back();
  EXPECT_THAT(error(), HasSubstr("has memory moves for"));
}
TEST_F(Broken, Start) {
  policy.start_states[0] = 2;
  EXPECT_THAT(error(), HasSubstr("the policy has no memory to start from in state 0"));
}

TEST(CheckPolicy, LandingPlansNeedNotSayWhatNeverHappens) {
  const Problem problem = make("river_swim(horizon=3,start=2,set=tv,radius=0.1)");
  const Solution solution = frontier(problem);
  check_policy(problem, solution.policy);
  EXPECT_EQ(evaluate(problem, solution.policy).reward.worst, solution.reward.worst);
}

TEST(CheckPolicy, BudgetsMustBeThoseOfTheProblem) {
  const Problem problem = make("river_swim(horizon=3,start=3)");
  const Policy good = rcvi(problem).policy;
  check_policy(problem, good);
  Policy policy = good;
  policy.stages[1].memory += 1;
  EXPECT_THAT(error_of([&] { check_policy(problem, policy); }), HasSubstr("its budgets have"));
  policy = good;
  policy.budget[0].constraint = 1;
  EXPECT_THAT(error_of([&] { check_policy(problem, policy); }),
              HasSubstr("budget for constraint 1"));
  policy = good;
  policy.budget[0].cells.pop_back();
  EXPECT_THAT(error_of([&] { check_policy(problem, policy); }),
              HasSubstr("the policy has budgets"));
}

// c' = (c - earned) / discount on the grid of the next stage.
TEST(MoveBudget, RoundsUpOrMixesAndStaysInTheWindow) {
  BudgetAxis axis;
  axis.bound = 2;
  axis.step = 0.5;
  axis.low = {0, -4};
  axis.cells = {1, 5};  // requirements 2 | 0, 0.5, 1, 1.5, 2
  axis.slack = {0, 0};
  BudgetMove move = move_budget(axis, 0, 0, 0.7);  // 1.3, kept as 1.5
  EXPECT_EQ(move.cell, 3);
  EXPECT_EQ(move.up, 0);
  EXPECT_NEAR(move.loss, 0.2, 1e-12);
  axis.rounding = Rounding::mixed;
  move = move_budget(axis, 0, 0, 0.7);  // 1 and 1.5 with the mean 1.3
  EXPECT_EQ(move.cell, 2);
  EXPECT_NEAR(move.up, 0.6, 1e-12);
  EXPECT_EQ(move.loss, 0);
  EXPECT_EQ(move_budget(axis, 0, 0, 5).cell, 0);
  EXPECT_EQ(move_budget(axis, 0, 0, -5).cell, 4);
  EXPECT_EQ(move_budget(axis, 0, 0, -5).up, 0);
  EXPECT_EQ(move_budget(axis, 0, 0, 0.5 + 1e-10).up, 0);  // rounding errors are not distances
  EXPECT_EQ(move_budget(axis, 0, 0, 0.5 - 1e-10).cell, 3);
  axis.discount = 0.8;
  move = move_budget(axis, 0, 0, 1);  // 1 / 0.8 = 1.25
  EXPECT_EQ(move.cell, 2);
  EXPECT_NEAR(move.up, 0.5, 1e-12);
}

TEST(MoveBudget, ManyAtOnceIsOneByOne) {
  testing::RandomOptions o{.states = 3, .signals = 2, .horizon = 3, .constraints = 2};
  for (const double discount : {1.0, 0.8}) {
    o.discount = discount;
    const Problem problem = testing::random_problem(8, o);
    for (const Rounding rounding : {Rounding::up, Rounding::mixed}) {
      const auto axes = plan_rcvi(problem, {.budget_cells = 6, .rounding = rounding}).axes;
      const std::vector<double> earned = {-0.37, 0.61};
      BudgetMoves moves;
      const std::int32_t first = 3, count = memory_states(axes, 1) - 4;
      move_budgets(axes, 1, earned, {first, count}, moves);
      for (std::int32_t m = 0; m < count; ++m) {
        const std::int32_t memory = first + m;
        const std::int32_t cells[] = {memory / axes[1].cells[1], memory % axes[1].cells[1]};
        double mean[2] = {0, 0}, weight = 0;
        for (int corner = 0; corner < moves.corners; ++corner) {
          const auto at = corner * count + m;
          weight += moves.weight[at];
          mean[0] += moves.weight[at] * (moves.memory[at] / axes[1].cells[2]);
          mean[1] += moves.weight[at] * (moves.memory[at] % axes[1].cells[2]);
        }
        EXPECT_NEAR(weight, 1, 1e-12);
        for (int a = 0; a < 2; ++a) {
          const BudgetMove one = move_budget(axes[a], 1, cells[a], earned[a]);
          EXPECT_NEAR(mean[a], one.cell + one.up, 1e-9);
          EXPECT_EQ(moves.loss[a * count + m], one.loss);
        }
      }
    }
  }
}

}  // namespace
}  // namespace redoubt
