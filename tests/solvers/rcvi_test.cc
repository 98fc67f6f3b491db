#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/expect_error.h"
#include "support/patience.h"
#include "support/random_policy.h"
#include "support/random_problem.h"
#include "support/rcvi_laws.h"
#include "support/rcvi_reference.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::kEverySet;
using testing::RandomOptions;

// Shapes that the recursion must get right, one bit each.
RandomOptions shape(std::uint64_t seed, const Uncertainty& set) {
  RandomOptions o;
  o.states = 4;
  o.actions = 3;
  o.horizon = 4;
  o.uncertainty = set;
  return testing::shaped(o, seed);
}

class Rcvi : public ::testing::TestWithParam<int> {};

TEST_P(Rcvi, IsTheLiteralAlgorithm) {
  const Uncertainty& set = kEverySet[GetParam()];
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(::testing::Message() << name(set) << " seed " << seed);
    RandomOptions shape_of = shape(seed, set);
    RcviOptions options{.budget_step = 0.13};
    options.rounding = seed % 3 == 1 ? Rounding::mixed : Rounding::up;
    options.fallback = seed % 2 == 1 ? Fallback::utility : Fallback::reward;
    options.slack = seed % 5 == 2 ? 0.05 : 0;
    if (seed % 4 == 3) shape_of.discount = 0.8;
    Problem problem = testing::random_problem(seed, shape_of);
    Terms terms = problem.terms();
    // Bounds from easy to beyond reach.
    const AchievableRange range = achievable_range(problem, 0);
    const double share = -0.1 + 1.2 * static_cast<double>(seed) / 15;
    const double bound = range.worst + share * (range.best - range.worst);
    terms.constraints = {seed % 2 == 0 ? at_most("cost0", bound) : at_least("cost0", bound)};
    testing::expect_literal_rcvi(problem.with(terms), options);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Rcvi, ::testing::Range(0, static_cast<int>(kEverySet.size())));

// Signals that are multiples of 0.25 need no rounding.
TEST(RcviLattice, IsExactAndFoundByItself) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const Problem rough = testing::random_problem(seed, shape(seed & 14, KL{0.1}));
    ModelArrays arrays = rough.model().arrays();
    Signal& signal = arrays.signals[0];
    for (auto* values : {&signal.row, &signal.outcome, &signal.arrival})
      for (double& v : *values) v = std::round(4 * v) / 4;
    const Problem problem(Model(arrays), rough.terms());
    const Solution solution = rcvi(problem);
    const BudgetAxis& axis = solution.policy.budget[0];
    EXPECT_TRUE(axis.exact);
    EXPECT_NEAR(std::remainder(axis.step, 0.25), 0, 1e-12);
    const auto expected = testing::rcvi_reference(problem, {.budget_step = 0.25});
    EXPECT_NEAR(solution.reward.worst, static_cast<double>(expected.reward), 1e-9);
    EXPECT_NEAR(solution.constraints[0].worst, static_cast<double>(-expected.utility[0]), 1e-9);
  }
}

TEST(RcviOptionsTest, EachOneMatters) {
  RandomOptions o = shape(4, KL{0.1});
  o.horizon = 6;
  const Problem problem = testing::random_problem(11, o);
  const Solution plain = rcvi(problem, {.budget_step = 0.2});
  EXPECT_NE(plain.reward.worst, rcvi(problem, {.budget_step = 0.05}).reward.worst);
  EXPECT_NE(plain.reward.worst,
            rcvi(problem, {.budget_step = 0.2, .rounding = Rounding::mixed}).reward.worst);
  EXPECT_GT(rcvi(problem, {.slack = 0.1, .budget_step = 0.2}).reward.worst, plain.reward.worst);
  EXPECT_GT(rcvi(problem, {.budget_cells = 400}).policy.memory_states(),
            rcvi(problem, {.budget_cells = 40}).policy.memory_states());
  Terms tight = problem.terms();
  tight.constraints[0].bound = achievable_range(problem, 0).best;
  const Problem hard = problem.with(tight);
  const Solution gives_up = rcvi(hard), tries = rcvi(hard, {.fallback = Fallback::utility});
  EXPECT_GT(gives_up.reward.worst, tries.reward.worst);
  EXPECT_LT(tries.constraints[0].worst, gives_up.constraints[0].worst);
  EXPECT_EQ(gives_up.status, Status::violated);
  EXPECT_GT(*gives_up.hopeless, 0.5);
}

TEST(RcviOptionsTest, SaysWhatIsWrong) {
  const Problem problem = testing::random_problem(1, shape(0, KL{0.1}));
  const auto refuse = [&](RcviOptions options) {
    return error_of([&] { rcvi(problem, options); });
  };
  EXPECT_THAT(refuse({.slack = -1}), HasSubstr("slack = -1, must be at least 0"));
  EXPECT_THAT(refuse({.budget_step = -0.5}), HasSubstr("budget_step = -0.5"));
  EXPECT_THAT(refuse({.budget_cells = 0}), HasSubstr("budget_cells = 0"));
  EXPECT_THAT(refuse({.tolerance = 0}), HasSubstr("tolerance = 0"));
  EXPECT_EQ(error_of([] { rcvi(make("garnet(actions=257)")); }),
            "257 actions in one state, this method takes at most 256");
  EXPECT_THAT(refuse({.budget_step = 1e-4, .memory_limit = 1000}),
              HasSubstr("widen budget_step or raise memory_limit"));
  RandomOptions two = shape(0, KL{0.1});
  two.signals = two.constraints = 2;
  const auto too_many = [&](RcviOptions options) {
    return error_of([&] { rcvi(testing::random_problem(1, two), options); });
  };
  EXPECT_THAT(
      too_many({.budget_cells = 1000, .memory_limit = 1e6}),
      ::testing::ContainsRegex("this solve \\(4 stages, [0-9]+ x [0-9]+ = [0-9]+ budgets at "
                               "most\\) needs .* GB of RAM.*, the limit is 0.001 GB"));
  EXPECT_THAT(too_many({.budget_cells = 100'000, .memory_limit = 1e15}),
              HasSubstr("must be fewer than 2^31"));
}

TEST(RcviInfinite, IsCutAndSaysSo) {
  RandomOptions o;
  o.horizon = std::nullopt;
  o.discount = 0.8;
  o.states = 4;
  const Problem problem = testing::random_problem(3, o);
  const Solution solution = rcvi(problem, {.tolerance = 1e-4});
  EXPECT_EQ(solution.cut, 42);  // 0.8^41 > 1e-4 > 0.8^42
  ASSERT_EQ(solution.notes.size(), 1u);
  EXPECT_THAT(solution.notes[0], HasSubstr("cut after 42 stages"));
  testing::expect_same(evaluate(problem, solution.policy), verify(problem, solution.policy), 1e-9);
  EXPECT_NE(rcvi(problem, {.tolerance = 1e-1}).reward.worst, solution.reward.worst);
}

TEST(RcviThreads, SameBits) {
  RandomOptions o = shape(5, KL{0.1});
  o.states = 60;
  o.horizon = 6;
  for (const Uncertainty& set : kEverySet) {
    o.uncertainty = set;
    const Problem problem = testing::random_problem(2, o);
    for (const Rounding rounding : {Rounding::up, Rounding::mixed}) {
      const RcviOptions options{.budget_cells = 150, .rounding = rounding};
      const Solution one = rcvi(problem, options);
      for (const int threads : {2, 4}) {
        const Solution many = rcvi(problem, options, {.threads = threads});
        EXPECT_TRUE(one.policy == many.policy) << name(set);
        EXPECT_EQ(one.reward.worst, many.reward.worst);
        EXPECT_EQ(one.constraints, many.constraints);
        EXPECT_EQ(one.trace.reward, many.trace.reward);
        EXPECT_EQ(one.row_evaluations, many.row_evaluations);
      }
    }
  }
}

TEST(RcviStop, HasTheBestOfThePoliciesForOneThingAlone) {
  const Problem problem = testing::random_problem(2, shape(0, KL{0.1}));
  const Execution execution{.progress = [](double done) { return done < 0.4; }};
  const Solution solution = rcvi(problem, {}, execution);
  EXPECT_TRUE(solution.unfinished);
  EXPECT_EQ(solution.constraints[0].satisfied, solution.status == Status::feasible);
  // Where none of them keeps the constraint, the safest violates it least.
  if (!solution.constraints[0].satisfied) {
    EXPECT_NEAR(solution.constraints[0].worst, achievable_range(problem, 0).best, 1e-9);
  }
  EXPECT_TRUE(rcvi(problem, {}, {.time_limit = 0}).unfinished);
}

TEST(RcviPlanTest, IsWhatTheSolveDoes) {
  const Problem problem = testing::random_problem(2, shape(0, KL{0.1}));
  const RcviPlan plan = plan_rcvi(problem);
  const Solution solution = rcvi(problem);
  EXPECT_EQ(plan.axes, solution.policy.budget);
  EXPECT_EQ(plan.most_memory_states, solution.policy.memory_states());
  EXPECT_EQ(plan.row_evaluations, solution.row_evaluations);
}

// Steps that earn much more than a cell: most of a layer is what a shift of the budgets may reach.
TEST(RcviPlanTest, KnowsTheMemoryThatTheSolveTakes) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  const Problem problem =
      make("garnet(states=20,actions=2,successors=3,horizon=4,start=0,bound=40)");
  const RcviOptions options{.budget_step = 0.002};
  const auto in_use = [] {
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  };
  const double before = in_use();
  double most = 0;
  Execution execution;
  execution.progress = [&](double) {
    most = std::max(most, in_use() - before);
    return true;
  };
  const RcviPlan plan = plan_rcvi(problem, options);
  rcvi(problem, options, execution);
  EXPECT_GT(most, 1e7);  // large enough for the rest not to count
  EXPECT_LE(most, 1.02 * plan.memory.bytes());
  EXPECT_GE(most, 0.5 * plan.memory.bytes());
}

}  // namespace
}  // namespace redoubt
