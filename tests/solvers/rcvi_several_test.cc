#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "redoubt/evaluate.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/folders.h"
#include "support/random_policy.h"
#include "support/random_problem.h"
#include "support/rcvi_laws.h"

// RCVI with a budget for each of several constraints.
namespace redoubt {
namespace {

using testing::kEverySet;
using testing::RandomOptions;

Problem several(std::uint64_t seed, const Uncertainty& set, int constraints, double discount = 1) {
  RandomOptions o{.states = 3, .actions = 3, .signals = constraints, .horizon = 3};
  o.constraints = constraints;
  o.discount = discount;
  o.uncertainty = set;
  const Problem problem = testing::random_problem(seed, testing::shaped(o, seed));
  Terms terms = problem.terms();
  for (int c = 0; c < constraints; ++c) {  // bounds from easy to beyond reach, each its own way
    const AchievableRange range = achievable_range(problem, c);
    const double share = -0.1 + 1.2 * static_cast<double>((seed + 5 * c) % 16) / 15;
    terms.constraints[c].bound = range.worst + share * (range.best - range.worst);
  }
  return problem.with(terms);
}

class RcviSeveral : public ::testing::TestWithParam<int> {};

TEST_P(RcviSeveral, IsTheLiteralAlgorithm) {
  const Uncertainty& set = kEverySet[GetParam()];
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(::testing::Message() << name(set) << " seed " << seed);
    RcviOptions options{.budget_step = 0.23};
    options.rounding = seed % 3 == 1 ? Rounding::mixed : Rounding::up;
    options.fallback = seed % 4 >= 2 ? Fallback::utility : Fallback::reward;
    options.slack = seed % 5 == 2 ? 0.05 : 0;
    testing::expect_literal_rcvi(several(seed, set, 2, seed % 4 == 3 ? 0.8 : 1), options);
  }
  testing::expect_literal_rcvi(several(4, set, 3), {.budget_step = 0.4});
}

INSTANTIATE_TEST_SUITE_P(Sets, RcviSeveral,
                         ::testing::Range(0, static_cast<int>(kEverySet.size())));

// One decision between three actions: all (reward 1), half (reward .6, .5 of x and of y), none (1
// of each). Wanting .4 of x and .3 of y, which all and half cannot give alone, mixes all and half
// for x; wanting more of y than half has mixes in none.
TEST(RcviSeveralByHand, MixesAsManyActionsAsItTakes) {
  ModelBuilder builder(1, {"x", "y"});
  builder.add(0, 0, 0, {.reward = 1, .signals = {0, 0}, .outcomes = {{0, 1}}});
  builder.add(0, 0, 1, {.reward = 0.6, .signals = {0.5, 0.25}, .outcomes = {{0, 1}}});
  builder.add(0, 0, 2, {.reward = 0, .signals = {0.5, 1}, .outcomes = {{0, 1}}});
  Terms terms{.horizon = 1, .constraints = {at_least("x", 0.4), at_least("y", 0.3)}};
  const Problem problem(builder.build(), terms);
  const Solution solution = rcvi(problem);
  // x: 1/2 (w1 + w2) = .4; y: w1/4 + w2 = .3: w2 = .4/3, w1 = 2/3, w0 = .2.
  const double w2 = 0.4 / 3, w1 = 0.8 - w2;
  EXPECT_NEAR(solution.reward.worst, 0.2 + 0.6 * w1, 1e-9);
  EXPECT_NEAR(solution.constraints[0].worst, 0.4, 1e-9);
  EXPECT_NEAR(solution.constraints[1].worst, 0.3, 1e-9);
  EXPECT_EQ(solution.status, Status::feasible);
  const Policy::Stage& stage = solution.policy.stages[0];
  const auto node = stage.begin(0) + solution.policy.start_memory;
  EXPECT_EQ(stage.choice_begin[node + 1] - stage.choice_begin[node], 3);
}

// Over two stages the budgets of both constraints are remembered: earning x first leaves y.
TEST(RcviSeveralByHand, RemembersWhatEachConstraintStillNeeds) {
  ModelBuilder builder(3, {"x", "y"});
  builder.add(0, 0, 0, {.outcomes = {{1, 0.5}, {2, 0.5}}});
  builder.add(0, 1, 0, {.signals = {1, 0}, .outcomes = {{0, 1}}});
  builder.add(0, 2, 0, {.signals = {0, 1}, .outcomes = {{0, 1}}});
  builder.add(0, 0, 1, {.reward = 1, .outcomes = {{0, 1}}});
  builder.add(0, 0, 2, {.signals = {1, 0}, .outcomes = {{0, 1}}});
  builder.add(0, 0, 3, {.signals = {0, 1}, .outcomes = {{0, 1}}});
  Terms terms{.horizon = 3, .constraints = {at_least("x", 1), at_least("y", 1)}};
  const Problem problem(builder.build(), terms);
  const Solution solution = rcvi(problem);
  EXPECT_EQ(solution.status, Status::feasible);
  EXPECT_NEAR(solution.constraints[0].worst, 1, 1e-9);
  EXPECT_NEAR(solution.constraints[1].worst, 1, 1e-9);
  // Straight x, straight y, and a stage to spare for the reward.
  EXPECT_NEAR(solution.reward.worst, 1, 1e-9);
}

TEST(RcviSeveralLimits, WithoutPressureIsValueIteration) {
  for (const Uncertainty& set : kEverySet) {
    const Problem problem = several(4, set, 2);
    Terms terms = problem.terms();
    for (Constraint& c : terms.constraints) c.bound = c.sense == Sense::at_most ? 100 : -100;
    const Problem free = problem.with(terms);
    const Solution solution = rcvi(free);
    EXPECT_NEAR(solution.reward.worst, robust(free).reward.worst, 1e-12) << name(set);
    EXPECT_EQ(solution.policy.memory_states(), 1);
  }
}

TEST(RcviSeveralLimits, AConstraintTwiceIsTheConstraintOnce) {
  for (const Uncertainty& set : kEverySet) {
    const Problem problem = several(6, set, 1);
    Terms terms = problem.terms();
    const Constraint one = terms.constraints[0];
    Constraint loose = one;
    loose.bound += one.sense == Sense::at_most ? 0.3 : -0.3;
    terms.constraints = {loose, one, one};
    const Problem twice = problem.with(terms);
    const Solution once = rcvi(problem), again = rcvi(twice);
    EXPECT_EQ(once.reward.worst, again.reward.worst);
    EXPECT_EQ(once.constraints[0], again.constraints[1]);
    EXPECT_EQ(once.constraints[0], again.constraints[2]);
    EXPECT_EQ(once.constraints[0].worst, again.constraints[0].worst);
    EXPECT_EQ(once.trace.constraints[0], again.trace.constraints[0]);
    EXPECT_EQ(once.policy.stages, again.policy.stages);
  }
}

// The same constraint on a copy of its signal takes the long way: a budget each, a linear program
// for each pair of budgets. Only the rounding of weights to 1 / 65535 differs.
TEST(RcviSeveralLimits, AConstraintOnACopyOfItsSignalAddsNothing) {
  for (const Uncertainty& set : kEverySet) {
    SCOPED_TRACE(name(set));
    const Problem one = several(6, set, 1);
    ModelArrays arrays = one.model().arrays();
    arrays.signals.push_back(arrays.signals[0]);
    arrays.signals[1].name = "copy";
    Terms terms = one.terms();
    terms.constraints.push_back(terms.constraints[0]);
    terms.constraints[1].signal = "copy";
    const Problem two(Model(arrays), terms);
    const RcviOptions options{.budget_step = 0.1};
    const Solution once = rcvi(one, options), again = rcvi(two, options);
    EXPECT_EQ(again.policy.budget.size(), 2u);
    EXPECT_NEAR(once.reward.worst, again.reward.worst, 2e-4);
    EXPECT_NEAR(once.constraints[0].worst, again.constraints[0].worst, 2e-4);
    EXPECT_EQ(again.constraints[0].worst, again.constraints[1].worst);
  }
}

TEST(RcviSeveralLimits, NoStageAndOneState) {
  const Problem problem = several(0, KL{0.1}, 2);
  Terms terms = problem.terms();
  terms.horizon = 0;
  const Problem over = problem.with(terms);
  const Solution solution = rcvi(over);
  EXPECT_EQ(solution.reward.worst, 0);
  EXPECT_EQ(solution.constraints[0].worst, 0);
  testing::expect_same(evaluate(over, solution.policy), verify(over, solution.policy), 1e-12);
  RandomOptions o{.states = 1, .actions = 3, .successors = 1, .signals = 2, .horizon = 4};
  o.constraints = 2;
  const Problem alone = testing::random_problem(3, o);
  testing::expect_literal_rcvi(alone, {.budget_step = 0.3});
}

TEST(RcviSeveralLimits, AnInfiniteHorizonIsCutAndThePolicySaved) {
  RandomOptions o{.states = 3, .signals = 2, .horizon = std::nullopt, .discount = 0.6};
  o.constraints = 2;
  const Problem problem = testing::random_problem(3, o);
  const Solution solution = rcvi(problem, {.budget_cells = 20, .tolerance = 1e-3});
  EXPECT_EQ(solution.cut, 14);
  testing::expect_same(evaluate(problem, solution.policy), verify(problem, solution.policy), 1e-9);
  const auto path = testing::own_path("several.h5");
  save_solution(solution, path);
  EXPECT_TRUE(load_solution(path).policy == solution.policy);
  std::filesystem::remove(path);
}

TEST(RcviSeveralThreads, SameBits) {
  RandomOptions o{.states = 20, .signals = 2, .horizon = 3};
  o.constraints = 2;
  for (const Uncertainty& set : kEverySet) {
    o.uncertainty = set;
    const Problem problem = testing::random_problem(2, o);
    const RcviOptions options{.budget_cells = 40};
    const Solution one = rcvi(problem, options);
    EXPECT_GT(one.policy.memory_states(), 1024);  // more than one range of memory states
    const Solution many = rcvi(problem, options, {.threads = 3});
    EXPECT_TRUE(one.policy == many.policy) << name(set);
    EXPECT_EQ(one.reward.worst, many.reward.worst);
    EXPECT_EQ(one.constraints, many.constraints);
    EXPECT_EQ(one.trace.reward, many.trace.reward);
  }
}

TEST(RcviSeveralPlan, IsWhatTheSolveDoes) {
  const Problem problem = several(3, TV{0.1}, 2);
  const RcviPlan plan = plan_rcvi(problem);
  const Solution solution = rcvi(problem);
  EXPECT_EQ(plan.axes, solution.policy.budget);
  EXPECT_EQ(plan.most_memory_states, solution.policy.memory_states());
  EXPECT_EQ(plan.row_evaluations, solution.row_evaluations);
  EXPECT_EQ(plan.most_memory_states, std::int64_t{plan.axes[0].cells[plan.widest_stage]} *
                                         plan.axes[1].cells[plan.widest_stage]);
}

}  // namespace
}  // namespace redoubt
