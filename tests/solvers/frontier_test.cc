#include "redoubt/frontier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/expect_error.h"
#include "support/patience.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::random_options;
using testing::random_problem;
using testing::RandomOptions;

double scale_of(const Solution& solution) { return std::max(1.0, std::abs(solution.reward.worst)); }

// What must hold of every answer, whatever the problem.
void expect_sound(const Problem& problem, const Solution& solution) {
  if (solution.status == Status::infeasible) {
    // The best achievable value is the proof, and the policy attached must not contradict it.
    EXPECT_FALSE(evaluate(problem, solution.policy).satisfied());
    return;
  }
  ASSERT_THAT(name(solution.status), ::testing::AnyOf("certified", "feasible"));
  const Evaluation evaluated = evaluate(problem, solution.policy);
  EXPECT_EQ(evaluated.reward.worst, solution.reward.worst);
  EXPECT_TRUE(evaluated.satisfied());
  EXPECT_LE(solution.reward.worst, *solution.reward.bound + 1e-9 * scale_of(solution));
  EXPECT_LE(*solution.reward.bound, *solution.reward.static_bound + 1e-2 * scale_of(solution));
  // The last line of the trace is what the solver itself claims.
  EXPECT_GE(evaluated.reward.worst, solution.trace.reward.back() - 1e-9 * scale_of(solution));
}

TEST(Frontier, EndsAtAGapThatIsSmallEnoughInItself) {
  const Problem problem = make("river_swim(horizon=10,start=3)");
  const Solution fine = frontier(problem, {.tolerance = 1e-4});
  const Solution coarse = frontier(problem, {.tolerance = 1e-4, .least_gap = 0.1});
  EXPECT_LE(*coarse.gap(), 0.1);
  EXPECT_GT(*coarse.gap(), *fine.gap());
  EXPECT_LT(coarse.iterations, fine.iterations);
  EXPECT_EQ(coarse.status, Status::certified);
  expect_sound(problem, coarse);
  EXPECT_EQ(error_of([&] { frontier(problem, {.least_gap = -1}); }),
            "least_gap = -1, must be at least 0");
}

TEST(Frontier, ConstrainedRiverSwim) {
  const auto from = [](int state) {
    return frontier(make("river_swim(horizon=10,start=" + std::to_string(state) + ")"));
  };
  const Solution s3 = from(3);
  EXPECT_EQ(s3.status, Status::certified);
  EXPECT_GE(s3.reward.worst, .949);
  EXPECT_LE(*s3.reward.bound, .989);
  const Solution s4 = from(4);
  EXPECT_EQ(s4.status, Status::certified);
  EXPECT_GE(s4.reward.worst, 1.255);
  EXPECT_TRUE(s4.constraints[0].satisfied);
  const Solution s5 = from(5);
  EXPECT_EQ(s5.status, Status::infeasible);
  EXPECT_NEAR(*s5.constraints[0].best_achievable, 5.893, 5e-4);
}

TEST(Frontier, ReachesATightTolerance) {
  const Solution s = frontier(make("river_swim(horizon=10,start=3)"), {.tolerance = 1e-5});
  EXPECT_EQ(s.status, Status::certified);
  EXPECT_LE(*s.gap(), 1e-5 * *s.reward.bound);
}

// From one start little comes to any state of a large model. The answer must not go to and fro
// between places whose games are played less exactly.
TEST(Frontier, FewPassesCertifyALargerModelFromOneStart) {
  const Problem problem = make(
      "garnet(states=200,actions=3,successors=5,horizon=8,start=0,bound=20,set=kl,radius=0.1,"
      "seed=2)");
  const Solution solution = frontier(problem, {.tolerance = 0.01});
  EXPECT_EQ(solution.status, Status::certified);
  EXPECT_LE(solution.iterations, 10);
  expect_sound(problem, solution);
}

// A tolerance says how many directions a stage may have.
TEST(Frontier, AFineToleranceHasMoreDirections) {
  const Problem problem =
      make("garnet(states=10,actions=4,successors=5,horizon=20,seed=1,set=kl,radius=0.05)");
  const Solution fine = frontier(problem, {.tolerance = 3e-5});
  EXPECT_EQ(fine.status, Status::certified);
  EXPECT_LE(*fine.gap(), 3e-5 * *fine.reward.bound);
  const Solution coarse = frontier(problem, {.tolerance = 3e-5, .most_directions = 40});
  EXPECT_EQ(coarse.status, Status::feasible);
  ASSERT_FALSE(coarse.notes.empty());
  EXPECT_NE(coarse.notes.back().find("with all 40 directions"), std::string::npos)
      << coarse.notes.back();
}

TEST(Frontier, StatesMakeUpForEachOther) {
  const Solution s = frontier(make("hedge"), {.tolerance = 1e-6});
  EXPECT_NEAR(s.reward.worst, .5, 1e-6);
  EXPECT_NEAR(s.constraints[0].worst, .5, 1e-9);
}

TEST(Frontier, RemembersWhichWayItCame) {
  for (const char* radius : {".05", ".1", ".2"}) {
    const Solution s = frontier(
        make(std::string("fork(set=tv,reach=support,radius=") + radius + ")"), {.tolerance = 1e-4});
    EXPECT_EQ(s.status, Status::certified);
    EXPECT_NEAR(s.reward.worst, 1, 1e-4);
    EXPECT_NEAR(s.constraints[0].worst, 1, 1e-9);
  }
}

TEST(Frontier, WithoutConstraintsIsRobustValueIteration) {
  for (std::uint64_t seed = 0; seed < testing::cases(100); ++seed) {
    RandomOptions options = random_options(seed);
    options.constraints = 0;
    if (std::holds_alternative<Tilt>(options.uncertainty)) continue;
    const Problem problem = random_problem(seed, options);
    const Solution exact = frontier(problem);
    EXPECT_NEAR(exact.reward.worst, robust(problem).reward.worst, 1e-9 * scale_of(exact)) << seed;
  }
}

TEST(Frontier, OneStateIsTheConcaveHullOfItsActions) {
  // (utility, reward) of three actions; the second lies below the line through the others.
  ModelBuilder builder(1, {"utility"});
  builder.add(0, 0, 0, {1, {0}, {{0, 1}}});
  builder.add(0, 0, 1, {.3, {.5}, {{0, 1}}});
  builder.add(0, 0, 2, {0, {1}, {{0, 1}}});
  Terms terms;
  terms.horizon = 1;
  for (const double bound : {0.0, .25, .5, .9, 1.0}) {
    terms.constraints = {at_least("utility", bound)};
    const Solution s = frontier(Problem(builder.build(), terms), {.tolerance = 1e-6});
    EXPECT_EQ(s.status, Status::certified);
    EXPECT_NEAR(s.reward.worst, 1 - bound, 1e-6);
  }
  terms.constraints = {at_least("utility", 1.01)};
  EXPECT_EQ(frontier(Problem(builder.build(), terms)).status, Status::infeasible);
}

TEST(Frontier, NoHorizonNoReward) {
  const Solution s = frontier(make("river_swim(horizon=0)"));
  EXPECT_EQ(s.status, Status::certified);
  EXPECT_EQ(s.reward.worst, 0);
}

// Several constraints and infinite horizons: frontier_soundness_test.cc, which also accepts an
// answer that breaks one of several constraints if it says so.
TEST(Frontier, IsSoundOnFiniteHorizonsWithOneConstraint) {
  for (std::uint64_t seed = 0; seed < testing::cases(150); ++seed) {
    RandomOptions options = random_options(seed);
    options.constraints = std::min(options.constraints, 1);
    if (std::holds_alternative<Tilt>(options.uncertainty) || !options.horizon) continue;
    SCOPED_TRACE(seed);
    const Problem problem = random_problem(seed, options);
    expect_sound(problem, frontier(problem, {.tolerance = 1e-2}));
  }
}

TEST(Frontier, IsNeverBehindRcvi) {
  int feasible = 0, broken = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(1000); ++seed) {
    RandomOptions options;
    options.states = 4;
    options.horizon = 4;
    options.uncertainty = seed % 2 ? Uncertainty(TV{.15, Reach::support}) : Uncertainty(KL{.05});
    const Problem problem = random_problem(seed, options);
    const Solution paper = rcvi(problem), exact = frontier(problem);
    ASSERT_NE(exact.status, Status::violated) << seed;
    if (paper.status == Status::violated) {
      broken += exact.status != Status::infeasible;
      continue;
    }
    ++feasible;
    ASSERT_NE(exact.status, Status::infeasible) << seed;
    ASSERT_GE(exact.reward.worst, paper.reward.worst - 1e-3 * scale_of(exact)) << seed;
  }
  EXPECT_GT(feasible, testing::cases(100));
  EXPECT_GT(broken, 0);  // constraints that can be kept, and that RCVI breaks
}

TEST(Frontier, InfiniteHorizonsHaveAStationaryPolicy) {
  for (const char* id :
       {"river_swim", "machine_replacement", "garnet(states=4,actions=2,successors=2)"}) {
    const Problem problem = make(id);
    const Solution s = frontier(problem, {.tolerance = 1e-2});
    EXPECT_EQ(s.status, Status::certified) << id;
    EXPECT_EQ(s.policy.stages.size(), 1u) << id;
    EXPECT_FALSE(s.cut) << id;
    expect_sound(problem, s);
    EXPECT_NEAR(verify(problem, s.policy).reward.worst, s.reward.worst, 1e-9 * scale_of(s)) << id;
  }
}

// With no constraint, one or two, wherever nature may land.
TEST(Frontier, StationaryPoliciesOfEverySet) {
  for (const Uncertainty& set : testing::kEverySet) {
    if (std::holds_alternative<Tilt>(set)) continue;
    for (int constraints = 0; constraints <= 2; ++constraints) {
      SCOPED_TRACE(fmt::format("set {}, {} constraints", set.index(), constraints));
      RandomOptions options;
      options.states = 4;
      options.horizon.reset();
      options.discount = 0.8;
      options.constraints = constraints;
      options.signals = std::max(1, constraints);
      options.uncertainty = set;
      const Problem problem = random_problem(1, options);
      const Solution s = frontier(problem, {.tolerance = 2e-2});
      EXPECT_EQ(s.status, Status::certified);
      EXPECT_EQ(s.policy.stages.size(), 1u);
      EXPECT_FALSE(s.cut);
      expect_sound(problem, s);
    }
  }
}

TEST(Frontier, SameBitsOnAnyNumberOfThreads) {
  const Problem problem = make("garnet(states=20,actions=3,successors=4,horizon=8,discount=.9)");
  const Solution one = frontier(problem, {}, {.threads = 1});
  for (const int threads : {2, 4}) {
    const Solution many = frontier(problem, {}, {.threads = threads});
    EXPECT_EQ(one.policy, many.policy);
    EXPECT_EQ(one.reward, many.reward);
    EXPECT_EQ(one.constraints, many.constraints);
  }
}

TEST(Frontier, CurvePointsAreAchieved) {
  const Problem problem = make("river_swim(horizon=6,start=3)");
  const Solution s = frontier(problem, {.whole_curve = true});
  ASSERT_GE(s.curve.size(), 3u);
  for (const double bound : {1.2, 1.5, 2.0}) {
    Terms terms = problem.terms();
    terms.constraints[0].bound = bound;
    const Problem other = problem.with(terms);
    const Evaluation evaluated = evaluate(other, policy_at(problem, s, {bound}));
    EXPECT_TRUE(evaluated.satisfied()) << bound;
    EXPECT_LE(evaluated.reward.worst, *frontier(other).reward.bound + 1e-9);
  }
  const auto refused = [&](const Solution& solution, const std::vector<double>& bounds) {
    return error_of([&] { policy_at(problem, solution, bounds); });
  };
  EXPECT_THAT(refused(s, {-1.0}), HasSubstr("must reach it"));
  EXPECT_EQ(refused(s, {1.0, 2.0}), "2 bounds, must be one for each of the 1 constraints");
  EXPECT_EQ(refused(rcvi(problem), {1.0}), "method 'rcvi' has no trade-off curve to choose from");
}

TEST(Frontier, CertifiesOtherMethods) {
  const Problem problem = make("river_swim(horizon=10,start=3)");
  Solution s = rcvi(problem);
  certify(problem, s);
  EXPECT_EQ(s.status, Status::feasible);
  EXPECT_GT(*s.gap(), .2);
  EXPECT_GE(*s.reward.static_bound, *s.reward.bound);

  Solution exact = frontier(problem);
  exact.status = Status::feasible;
  certify(problem, exact);
  EXPECT_EQ(exact.status, Status::certified);

  const Problem hopeless = make("river_swim(horizon=10,start=3,bound=0)");
  Solution broken = rcvi(hopeless);
  certify(hopeless, broken);
  EXPECT_EQ(broken.status, Status::violated);
  EXPECT_EQ(broken.notes.back(), "proved: no policy can satisfy the constraints");
}

TEST(Frontier, StopsWithTheBestBracketSoFar) {
  const Problem problem = make("river_swim(horizon=10,start=3)");
  int calls = 0;
  Execution execution;
  execution.progress = [&](double) { return ++calls < 25; };  // the first pass has ten stages
  const Solution s = frontier(problem, {.tolerance = 1e-6}, execution);
  EXPECT_NE(s.status, Status::certified);
  EXPECT_TRUE(s.constraints[0].satisfied);
  EXPECT_GT(*s.reward.bound, s.reward.worst);
}

TEST(Frontier, RefusesWhatItCannotDo) {
  const auto refused = [](const FrontierOptions& options) {
    return error_of([&] { frontier(make("hedge"), options); });
  };
  EXPECT_EQ(error_of([] { frontier(make("river_swim(set=tilt,temperature=1)")); }),
            "set tilt with method frontier: a tilt is not a set of distributions, so there is no "
            "worst case to bound; method must be another one, such as rcvi");
  EXPECT_EQ(refused({.tolerance = 0}), "tolerance = 0, must be in (0, 1)");
  EXPECT_EQ(refused({.tolerance = std::nan("")}), "tolerance = nan, must be in (0, 1)");
  EXPECT_EQ(refused({.most_directions = 1}),
            "most_directions = 1, must be at least 2, or 0 for as many as the tolerance asks for");
}

}  // namespace
}  // namespace redoubt
