#include "redoubt/gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/satisfied.h"
#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using Method = Solution (*)(const Problem&, const GradientOptions&, const Execution&);
constexpr Method kMethods[] = {rnpg, crpo, epirc, rppg, primal_dual, rrpo};

struct Point {
  double reward, cost;
};

Point at(const Solution& solution, int update) {
  return {solution.trace.reward[update], solution.trace.constraints[0][update]};
}

void expect_near(Point found, Point expected, double share = 0.01) {
  EXPECT_NEAR(found.reward, expected.reward, share * expected.reward);
  EXPECT_NEAR(found.cost, expected.cost, share * expected.cost);
}

int first_feasible(const Problem& problem, const Solution& solution) {
  const auto& worst = solution.trace.constraints[0];
  const double miss = allowed_misses(problem)[0];
  for (std::size_t i = 0; i < worst.size(); ++i)
    if (satisfied(problem.constraints()[0], worst[i], miss)) return static_cast<int>(i);
  return -1;
}

// Numbers of an independent implementation: a warm-started fixed point with worst cases by
// bisection, under Python. Discount .9, uniform start, KL .05, cost at most 4.

TEST(Gradient, CrpoOnRiverSwim) {
  const Solution solution = crpo(make("river_swim"), {}, {});
  expect_near(at(solution, 0), {0.784, 3.671}, 1e-3);
  expect_near(at(solution, 50), {0.937, 3.982});
  expect_near(at(solution, 100), {0.996, 3.996});
  expect_near(at(solution, 500), {1.183, 3.999});
  expect_near(at(solution, 1000), {1.199, 4.000});
  EXPECT_NEAR(solution.reward.worst, 1.198, 0.01);
  EXPECT_EQ(solution.status, Status::feasible);
  EXPECT_EQ(solution.iterations, 1000);
  EXPECT_EQ(solution.trace.iteration.size(), 1001u);
}

TEST(Gradient, RnpgSettlesOutsideTheBoundByOneRuleAndInsideByTheOther) {
  const Problem problem = make("river_swim");
  const Solution repo = rnpg(problem, {.rule = ChoiceRule::repo}, {});
  expect_near(at(repo, 500), {1.210, 4.024});
  expect_near(at(repo, 1000), {1.212, 4.024});
  EXPECT_NEAR(repo.trace.constraints[0].back(), 4 + repo.trace.reward.back() / 50, 0.004);
  EXPECT_NEAR(repo.reward.worst, 1.047, 0.01);  // the last of its feasible iterates is long ago
  const Solution neg = rnpg(problem, {}, {});
  expect_near(at(neg, 500), {1.154, 3.973});
  expect_near(at(neg, 1000), {1.170, 3.976});
  EXPECT_NEAR(neg.reward.worst, 1.173, 0.01);
}

TEST(Gradient, OtherRadii) {
  const Problem wide = make("river_swim(radius=0.1)");
  const Solution solution = crpo(wide, {}, {});
  expect_near(at(solution, 0), {0.590, 4.411}, 1e-3);
  EXPECT_EQ(first_feasible(wide, solution), 12);
  expect_near(at(solution, 50), {0.540, 3.999});
  expect_near(at(solution, 1000), {0.616, 3.989});
  const Solution narrow = crpo(make("river_swim(radius=0.01)"), {}, {});
  expect_near(at(narrow, 0), {1.234, 2.723}, 1e-3);
  expect_near(at(narrow, 1000), {2.392, 4.002});
}

TEST(Gradient, TiltIsAnotherModel) {
  const Problem problem = make("river_swim(set=tilt,temperature=0.1)");
  const Solution solution = crpo(problem, {}, {});
  expect_near(at(solution, 0), {0.2379, 7.125}, 2e-4);
  EXPECT_EQ(solution.status, Status::violated);  // nobody meets 4: the least cost is 7.121
  const Solution warm = crpo(make("river_swim(set=tilt,temperature=3)"), {.step = 0.01}, {});
  expect_near(at(warm, 0), {0.967, 3.447});
  expect_near(at(warm, 50), {1.019, 3.580});
  expect_near(at(warm, 500), {1.145, 3.998});
}

TEST(Gradient, SaysWhenATiltDoesNotConverge) {
  // No contraction: the values of this chain jump to and fro for ever.
  const Problem problem =
      make("garnet(states=3,actions=1,seed=13,spread=10,set=tilt,temperature=1,discount=0.99)");
  const Solution solution = crpo(problem, {.iterations = 1}, {});
  ASSERT_EQ(solution.notes.size(), 4u);
  EXPECT_THAT(solution.notes[2], ::testing::HasSubstr("2 of 2 evaluations did not reach"));
  EXPECT_THAT(solution.notes[3], ::testing::HasSubstr("did not converge"));
  EXPECT_FALSE(evaluate(problem, solution.policy).converged);
}

TEST(Gradient, FromAnUnsafePolicy) {
  const Problem problem = make("river_swim");
  GradientOptions options{.step = 0.01};
  options.start_weights = {{.1, .9, .1, .9, .1, .9, .1, .9, .1, .9, .1, .9}};
  const Solution by_crpo = crpo(problem, options, {});
  expect_near(at(by_crpo, 0), {1.481, 5.022}, 1e-3);
  EXPECT_EQ(first_feasible(problem, by_crpo), 386);
  expect_near(at(by_crpo, 1000), {0.888, 4.001});
  EXPECT_EQ(first_feasible(problem, epirc(problem, options, {})), 316);
  options.rule = ChoiceRule::repo;
  const Solution repo = rnpg(problem, options, {});
  EXPECT_EQ(first_feasible(problem, repo), -1);
  EXPECT_EQ(repo.status, Status::violated);
  EXPECT_NEAR(repo.constraints[0].worst, 4.019, 0.01);
  EXPECT_NE(repo.notes.front().find("missed them least"), std::string::npos);
}

TEST(Gradient, EpircAndPrimalDual) {
  const Problem problem = make("river_swim");
  const Solution bisection = epirc(problem, {}, {});
  expect_near(at(bisection, 50), {1.688, 5.222});
  expect_near(at(bisection, 100), {1.739, 5.304});
  EXPECT_NEAR(bisection.reward.worst, 1.108, 0.011);
  EXPECT_NEAR(epirc(problem, {.step = 0.001}, {}).reward.worst, 0.927, 0.009);
  const Solution circling = primal_dual(problem, {}, {});
  expect_near(at(circling, 50), {1.145, 4.343});
  expect_near(at(circling, 100), {0.804, 3.490});
  expect_near(at(circling, 1000), {1.210, 4.001});
}

TEST(Gradient, RppgMovesAsFarAsItsWeightLetsIt) {
  // Far from the bound every step is along the reward, and a weight of 50 divides it by 50.
  const Problem problem = make("river_swim");
  constexpr auto kRule = ChoiceRule::repo;
  const Solution slow = rppg(problem, {.step = 0.1, .iterations = 50, .rule = kRule}, {});
  const Solution fast =
      rppg(problem, {.step = 0.002, .iterations = 50, .rule = kRule, .weight = 1}, {});
  expect_near(at(slow, 50), at(fast, 50), 1e-9);
  EXPECT_GT(at(slow, 50).reward, at(slow, 0).reward + 0.01);
}

TEST(Gradient, FiniteHorizonPoliciesDependOnTheStage) {
  const Problem problem = make("river_swim(horizon=10,discount=1)");
  const Solution solution = crpo(problem, {}, {});
  expect_near(at(solution, 0), {0.944, 3.289}, 1e-3);
  EXPECT_EQ(solution.status, Status::feasible);
  EXPECT_EQ(solution.policy.stages.size(), 10u);
  EXPECT_NE(solution.policy.stages.front(), solution.policy.stages.back());
}

// Laws that hold of every method on every kind of problem.

TEST(Gradient, TheTraceBeginsWithTheUniformPolicyAndTheAnswerIsOneOfTheIterates) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::random_problem(seed, testing::random_options(seed));
    const Model& model = problem.model();
    std::vector<std::vector<double>> uniform(problem.infinite() ? 1 : problem.horizon());
    for (std::size_t h = 0; h < uniform.size(); ++h) {
      for (State s = 0; s < model.states(); ++s) {
        const auto actions =
            model.row_end(static_cast<int>(h), s) - model.row_begin(static_cast<int>(h), s);
        uniform[h].insert(uniform[h].end(), actions, 1.0 / static_cast<double>(actions));
      }
    }
    const Evaluation expected = evaluate(problem, markov_policy(problem, uniform));
    const Solution solution = kMethods[seed % 6](problem, {.step = 0.5, .iterations = 20}, {});
    EXPECT_NEAR(solution.trace.reward[0], expected.reward.worst, 1e-8);
    for (std::size_t c = 0; c < expected.constraints.size(); ++c)
      EXPECT_NEAR(solution.trace.constraints[c][0], expected.constraints[c].worst, 1e-8);

    double nearest = INFINITY;
    for (const double reward : solution.trace.reward)
      nearest = std::min(nearest, std::abs(reward - solution.reward.worst));
    EXPECT_LT(nearest, 1e-8);
  }
}

TEST(Gradient, NoIterateBeatsTheBestUnconstrainedPolicy) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomOptions options = testing::random_options(seed);
    if (std::holds_alternative<Tilt>(options.uncertainty)) options.uncertainty = KL{0.1};
    const Problem problem = testing::random_problem(seed, options);
    const double bound = *robust(problem).reward.bound;
    for (const Method method : kMethods) {
      const Solution solution = method(problem, {.step = 1, .iterations = 30}, {});
      for (const double reward : solution.trace.reward) EXPECT_LE(reward, bound + 1e-8);
    }
  }
}

TEST(Gradient, NoFeasibleIterateBeatsTheCertifiedBound) {
  int binding = 0;
  for (int seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem =
        make("garnet(states=4,actions=3,successors=3,horizon=4,discount=1,bound=10,seed=" +
             std::to_string(seed) + ")");
    const Solution exact = frontier(problem, {.tolerance = 0.01}, {});
    if (exact.status == Status::infeasible) continue;
    const double miss = allowed_misses(problem)[0];
    binding += *exact.reward.bound < *robust(problem).reward.bound - 0.1 ? 1 : 0;
    for (const Method method : {rnpg, crpo, epirc, primal_dual}) {
      const Solution solution = method(problem, {.step = 0.05, .iterations = 200}, {});
      for (std::size_t i = 0; i < solution.trace.reward.size(); ++i) {
        if (!satisfied(problem.constraints()[0], solution.trace.constraints[0][i], miss)) continue;
        EXPECT_LE(solution.trace.reward[i], *exact.reward.bound + 1e-7);
      }
    }
  }
  EXPECT_GE(binding, 10);  // otherwise this says little
}

TEST(Gradient, WithoutConstraintsItFindsTheRobustOptimum) {
  testing::RandomOptions options;
  options.constraints = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Problem problem = testing::random_problem(seed, options);
    const double optimum = robust(problem).reward.worst;
    for (const Method method : {rnpg, crpo, primal_dual, rrpo}) {
      const Solution solution = method(problem, {.step = 10, .iterations = 300}, {});
      EXPECT_NEAR(solution.reward.worst, optimum, 1e-3 * optimum);
    }
  }
}

TEST(Gradient, SameBitsOnAnyNumberOfThreads) {
  // Large enough for sweeps to be divided.
  const Problem problem = make("garnet(states=300,actions=4,successors=6)");
  for (const Method method : {crpo, epirc}) {
    const Solution one = method(problem, {.step = 0.01, .iterations = 5}, {.threads = 1});
    const Solution three = method(problem, {.step = 0.01, .iterations = 5}, {.threads = 3});
    EXPECT_EQ(one.trace.reward, three.trace.reward);
    EXPECT_EQ(one.trace.constraints, three.trace.constraints);
    EXPECT_EQ(one.policy, three.policy);
    EXPECT_EQ(one.row_evaluations, three.row_evaluations);
  }
}

TEST(Gradient, StopsWhenAskedWithTheBestSoFar) {
  int calls = 0;
  const Execution execution{.progress = [&](double) { return ++calls < 30; }};
  const Solution solution = crpo(make("river_swim"), {.step = 0.01}, execution);
  EXPECT_TRUE(solution.unfinished);
  EXPECT_EQ(solution.iterations, 29);
  EXPECT_NEAR(solution.reward.worst, solution.trace.reward.back(), 1e-8);
  const Solution late = crpo(make("river_swim"), {.iterations = 100'000'000}, {.time_limit = 0.05});
  EXPECT_TRUE(late.unfinished);
}

TEST(Gradient, EveryOptionMatters) {
  const Problem problem = make("river_swim(radius=0.1)");
  const auto last = [&](Method method, const GradientOptions& options) {
    return method(problem, options, {}).trace.reward.back();
  };
  const GradientOptions plain{.iterations = 130};
  const auto differs = [&](Method method, auto change) {
    GradientOptions changed = plain;
    change(changed);
    return std::abs(last(method, changed) - last(method, plain)) > 1e-6;
  };
  for (const Method method : kMethods) {
    EXPECT_TRUE(differs(method, [](auto& o) { o.step = 0.2; }));
    EXPECT_TRUE(differs(method, [](auto& o) { o.first_policy = FirstPolicy::random; }));
  }
  EXPECT_TRUE(differs(crpo, [](auto& o) { o.slack = 0.1; }));
  EXPECT_TRUE(differs(rrpo, [](auto& o) { o.slack = 0.1; }));
  EXPECT_TRUE(differs(rnpg, [](auto& o) { o.weight = 5; }));
  EXPECT_TRUE(differs(rppg, [](auto& o) { o.weight = 5; }));
  EXPECT_TRUE(differs(rnpg, [](auto& o) { o.rule = ChoiceRule::repo; }));
  EXPECT_TRUE(differs(epirc, [](auto& o) { o.inner = 20; }));
  EXPECT_TRUE(differs(primal_dual, [](auto& o) { o.dual_step = 0.01; }));
  GradientOptions random = plain;
  random.first_policy = FirstPolicy::random;
  const double first = last(crpo, random);
  EXPECT_EQ(first, last(crpo, random));
  random.seed = 1;
  EXPECT_NE(first, last(crpo, random));
}

TEST(Gradient, CrpoTakesTheConstraintMissedMostAndRrpoTheFirst) {
  testing::RandomOptions options;
  options.signals = options.constraints = 2;
  Problem problem = testing::random_problem(3, options);
  Terms terms = problem.terms();  // both out of reach, the second by more
  terms.constraints = {at_most(terms.constraints[0].signal, -1),
                       at_most(terms.constraints[1].signal, -9)};
  problem = problem.with(terms);
  const GradientOptions few{.step = 1, .iterations = 100};
  const AchievableRange first = achievable_range(problem, 0), second = achievable_range(problem, 1);
  EXPECT_NEAR(rrpo(problem, few, {}).trace.constraints[0].back(), first.best, 1e-2);
  EXPECT_NEAR(crpo(problem, few, {}).trace.constraints[1].back(), second.best, 1e-2);
}

TEST(Gradient, RefusesWhatItCannotDo) {
  const Problem problem = make("river_swim");
  const auto text = [&](const GradientOptions& options) {
    return testing::error_of([&] { crpo(problem, options, {}); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(text({.step = 0}), HasSubstr("step = 0, must be above 0"));
  EXPECT_THAT(text({.iterations = -1}), HasSubstr("iterations = -1"));
  EXPECT_THAT(text({.tolerance = 0}), HasSubstr("tolerance = 0"));
  EXPECT_THAT(text({.slack = -1}), HasSubstr("slack = -1"));
  EXPECT_THAT(text({.weight = 0}), HasSubstr("weight = 0"));
  EXPECT_THAT(text({.inner = 0}), HasSubstr("inner = 0"));
  EXPECT_THAT(text({.dual_step = -1}), HasSubstr("dual_step = -1"));
  EXPECT_THAT(text({.start_weights = {{0.5}}}), HasSubstr("action weights"));
  Terms terms = make("river_swim(horizon=5)").terms();
  terms.constraints[0].probability = 0.9;
  EXPECT_THAT(testing::error_of([&] { crpo(problem.with(terms), {}, {}); }),
              HasSubstr("cannot keep the constraint on cost"));
}

}  // namespace
}  // namespace redoubt
