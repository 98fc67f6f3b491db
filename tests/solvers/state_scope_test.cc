// Methods where the rows of a state share a radius.
#include <gtest/gtest.h>

#include <cmath>

#include "model/scope.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/gradient.h"
#include "redoubt/shield.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/expect_error.h"
#include "support/on_ranks.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::kSharedSets;

class SharedRadius : public ::testing::TestWithParam<int> {
 protected:
  Problem problem(std::uint64_t seed, int constraints = 0) const {
    testing::RandomOptions o;
    o.states = 5;
    o.actions = 4;
    o.horizon = 4;
    o.constraints = constraints;
    o.uncertainty = kSharedSets[GetParam()];
    o = testing::shaped(o, seed);
    if (seed % 4 == 3) o.horizon = {}, o.discount = 0.8, o.stage_dependent = false;
    return testing::random_problem(seed, o);
  }
};

TEST_P(SharedRadius, RobustIsCertifiedAndBeatsRowScope) {
  int better = 0, mixed = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = problem(seed);
    const Solution solution = robust(p);
    const double scale = std::max(1.0, std::abs(solution.reward.worst));
    EXPECT_EQ(solution.status, Status::certified);
    EXPECT_NEAR(solution.reward.worst, *solution.reward.bound, 1e-8 * scale);
    EXPECT_NEAR(verify(p, solution.policy).reward.worst, solution.reward.worst, 1e-9 * scale);
    const double row = robust(internal::with_row_scope(p)).reward.worst;
    EXPECT_GE(solution.reward.worst, row - 1e-9 * scale);
    better += solution.reward.worst > row + 1e-6;
    for (std::uint64_t other = 0; other < 20; ++other) {
      const Policy policy = testing::random_markov_policy(1000 * seed + other, p);
      EXPECT_LE(evaluate(p, policy).reward.worst, solution.reward.worst + 1e-9 * scale);
    }
    for (const Policy::Stage& stage : solution.policy.stages) {
      for (std::size_t n = 0; n + 1 < stage.choice_begin.size(); ++n)
        mixed += stage.choice_begin[n + 1] - stage.choice_begin[n] > 2;
    }
    EXPECT_NEAR(frontier(p).reward.worst, solution.reward.worst, 1e-7 * scale);
    EXPECT_EQ(rcvi(p).reward.worst, solution.reward.worst);
  }
  EXPECT_GT(better, 5);
  EXPECT_GT(mixed, 0) << "no state needs more than two actions";
}

TEST_P(SharedRadius, RanksAndThreadsDoNotChangeRobust) {
  for (const std::uint64_t seed : {1, 7, 12}) {
    SCOPED_TRACE(seed);
    testing::expect_same_on_ranks(
        problem(seed), [](const Problem& p, const Execution& e) { return robust(p, e); });
  }
}

// Nominal policies are evaluated against the shared radius.
TEST_P(SharedRadius, NominalIsEvaluatedUnderTheSet) {
  const Problem p = problem(5);
  const Solution solution = nominal(p);
  EXPECT_EQ(solution.reward.worst, evaluate(p, solution.policy).reward.worst);
  EXPECT_LE(solution.reward.worst, robust(p).reward.worst + 1e-9);
}

// Without constraints a gradient method climbs towards the robust optimum and never beyond it.
TEST_P(SharedRadius, GradientMethodsClimbTowardsRobust) {
  for (const std::uint64_t seed : {0, 3, 9}) {
    SCOPED_TRACE(seed);
    const Problem p = problem(seed);
    GradientOptions options;
    options.iterations = 300;
    options.step = 1;
    const double best = robust(p).reward.worst;
    const Solution found = rnpg(p, options);
    EXPECT_LE(found.reward.worst, best + 1e-8);
    EXPECT_GE(found.reward.worst, best - 0.05 * std::abs(best));
    EXPECT_NEAR(found.reward.worst, evaluate(p, found.policy).reward.worst, 1e-9);
  }
}

// A bracket that holds the optimum: feasible, no worse than scope row, no better than the bound.
TEST_P(SharedRadius, FrontierEnclosesTheOptimum) {
  int feasible = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = problem(seed, 1 + static_cast<int>(seed % 2));
    const Solution solution = frontier(p), row = frontier(internal::with_row_scope(p));
    EXPECT_NE(solution.status, Status::violated);
    if (row.status == Status::certified || row.status == Status::feasible) {
      ASSERT_TRUE(solution.status == Status::feasible || solution.status == Status::certified);
      EXPECT_GE(solution.reward.worst, row.reward.worst - 1e-9);
    }
    if (solution.status != Status::feasible && solution.status != Status::certified) continue;
    ++feasible;
    EXPECT_GE(*solution.reward.bound, solution.reward.worst - 1e-9);
    EXPECT_TRUE(verify(p, solution.policy).satisfied());
    for (std::uint64_t other = 0; other < 30; ++other) {
      const Evaluation found = evaluate(p, testing::random_markov_policy(1000 * seed + other, p));
      if (!found.satisfied()) continue;
      EXPECT_LE(found.reward.worst, *solution.reward.bound + 1e-9);
    }
  }
  EXPECT_GT(feasible, 5);
}

TEST_P(SharedRadius, RanksDoNotChangeTheBracket) {
  testing::expect_same_on_ranks(
      problem(1, 1), [](const Problem& q, const Execution& e) { return frontier(q, {}, e); });
}

TEST_P(SharedRadius, MethodsThatDoNotKnowItSaySo) {
  const Problem p = problem(0, 1);
  const std::string rule = "of scope state is not there yet for method ";
  EXPECT_THAT(error_of([&] { rcvi(p); }), HasSubstr(rule + "rcvi"));
  const Policy policy = nominal(p).policy;
  EXPECT_THAT(error_of([&] { Shield(p, policy); }), HasSubstr("not there yet for a shield"));
}

INSTANTIATE_TEST_SUITE_P(Sets, SharedRadius, ::testing::Range(0, 4));

}  // namespace
}  // namespace redoubt
