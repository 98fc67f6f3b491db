#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "numerics/small_lp.h"
#include "redoubt/chance.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/io.h"
#include "redoubt/simulate.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/chance_reference.h"
#include "support/expect_error.h"
#include "support/folders.h"
#include "support/random_policy.h"

// RCVI and frontier with chance constraints.
namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::RandomOptions;

const std::vector<Uncertainty> kSets = {Nominal{}, TV{0.15}, TV{0.15, Reach::support},
                                        Chi2{0.2}, KL{0.05}, Interval{}};

RandomOptions shape(std::uint64_t seed, const Uncertainty& set) {
  RandomOptions o{.states = 4, .actions = 2, .successors = 2, .signals = 2, .horizon = 4};
  o.uncertainty = set;
  return testing::shaped(o, seed);
}

// The problem with the bound on which policies differ most, asking for this share of the way from
// the least to the largest probability that they have.
Problem with_share(const Problem& problem, double share) {
  Terms terms = problem.terms(), best = terms;
  double widest = -1;
  for (double bound = 0; bound <= problem.horizon(); bound += 0.5) {
    terms.constraints[0].bound = bound;
    const AchievableRange range = achievable_range(problem.with(terms), 0);
    if (range.best <= 0 || range.best - range.worst <= widest) continue;
    widest = range.best - range.worst;
    terms.constraints[0].probability = range.worst + share * widest + (range.worst == 0 ? 1e-6 : 0);
    best = terms;
  }
  return problem.with(best);
}

// The best mixture, drawn at the start, of all deterministic policies that remember everything.
double brute_force(const Problem& problem) {
  const auto all = testing::deterministic_history_policies(problem);
  std::vector<double> reward, kept;
  for (const auto& value : all) reward.push_back(value.reward), kept.push_back(value.kept);
  const std::vector<double> required = {*problem.constraints()[0].probability};
  return best_constrained_mix({reward, {kept}, required}).reward;
}

TEST(ChanceFrontier, IsTheBestMixtureOfAllHistoryPolicies) {
  int constrained = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions o = shape(seed & 11, Nominal{});
    o.states = 3;
    o.horizon = 3;
    const Problem problem =
        with_share(testing::random_chance_problem(seed, o), 0.3 + 0.03 * static_cast<double>(seed));
    const Solution solution = frontier(problem, {.tolerance = 1e-6});
    const double best = brute_force(problem);
    EXPECT_EQ(solution.status, Status::certified);
    EXPECT_NEAR(solution.reward.worst, best, 2e-6 * std::max(1.0, std::abs(best)));
    EXPECT_GE(*solution.reward.bound, best - 1e-9);
    testing::expect_same(evaluate(problem, solution.policy), verify(problem, solution.policy),
                         1e-9);
    constrained += robust(problem).reward.worst > best + 1e-6;
  }
  EXPECT_GT(constrained, 8);  // the constraint costs something
}

// Never violated, certified within the tolerance, never behind RCVI; and both say what evaluating
// their policy says.
TEST(ChanceFrontier, IsSoundOnEverySetAndShape) {
  for (const Uncertainty& set : kSets) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(::testing::Message() << name(set) << " seed " << seed);
      const Problem problem = with_share(testing::random_chance_problem(seed, shape(seed, set)),
                                         static_cast<double>(seed) / 12);
      const Solution exact = frontier(problem, {.tolerance = 1e-3});
      EXPECT_TRUE(exact.status == Status::certified || exact.status == Status::feasible)
          << name(exact.status);
      const Solution budget = rcvi(problem);
      EXPECT_NE(budget.status, Status::stopped);
      for (const Solution* solution : {&exact, &budget}) {
        const Evaluation again = evaluate(problem, solution->policy);
        EXPECT_EQ(solution->constraints[0].worst, again.constraints[0].worst);
        EXPECT_EQ(solution->reward.worst, again.reward.worst);
        testing::expect_same(again, verify(problem, solution->policy), 1e-9);
      }
      if (budget.status == Status::feasible) {
        EXPECT_LE(budget.reward.worst, *exact.reward.bound + 1e-9);
      }
    }
  }
}

// Asking for more than any policy has is infeasible, and the best is said; RCVI is violated.
TEST(ChanceFrontier, ProvesThatThereIsNoPolicy) {
  const Problem rough = testing::random_chance_problem(3, shape(0, KL{0.1}));
  Terms terms = rough.terms();
  terms.constraints = {with_probability(at_least("cost0", 3), 0.5)};
  const Problem problem = rough.with(terms);
  const double best = achievable_range(problem, 0).best;
  ASSERT_LT(best, 0.98);
  ASSERT_GT(best, 0.02);
  terms.constraints[0].probability = best + 0.01;
  const Solution exact = frontier(problem.with(terms));
  EXPECT_EQ(exact.status, Status::infeasible);
  EXPECT_NEAR(*exact.constraints[0].best_achievable, best, 1e-6);
  EXPECT_EQ(rcvi(problem.with(terms)).status, Status::violated);
  terms.constraints[0].probability = best - 0.01;
  EXPECT_EQ(frontier(problem.with(terms)).status, Status::certified);
}

TEST(ChanceRcvi, AsksEveryStateForTheProbability) {
  // The start leads to a sure and to a hopeless state: half of the episodes keep the bound,
  // whatever is done. Asked for one half, RCVI finds the hopeless state short of it, and says so.
  ModelBuilder builder(3, {"goal"});
  builder.add(0, 0, 0, {.outcomes = {{1, 0.5}, {2, 0.5}}});
  builder.add(0, 1, 0, {.signals = {1}, .outcomes = {{1, 1}}});
  builder.add(0, 2, 0, {.reward = 1, .outcomes = {{2, 1}}});
  Terms terms{.horizon = 2};
  terms.constraints = {with_probability(at_least("goal", 1), 0.5)};
  const Problem problem(builder.build(), terms);
  const Solution solution = rcvi(problem);
  EXPECT_EQ(solution.status, Status::feasible);
  EXPECT_NEAR(solution.constraints[0].worst, 0.5, 1e-12);
  ASSERT_EQ(solution.notes.size(), 1u);
  EXPECT_THAT(solution.notes[0],
              HasSubstr("with worst-case probability 0.5 the policy reaches a state"));
  EXPECT_EQ(frontier(problem).status, Status::certified);
}

// A million episodes against the nature that works against the constraint.
TEST(ChanceSimulate, AgreesWithTheWorstCase) {
  for (const Uncertainty& set : {Uncertainty{TV{0.15}}, Uncertainty{KL{0.05}}}) {
    SCOPED_TRACE(name(set));
    const Problem problem = with_share(testing::random_chance_problem(5, shape(4, set)), 0.7);
    const SimulateOptions options{.episodes = 1'000'000,
                                  .nature = {Nature::Against::constraint, 0}};
    for (const Solution& solution : {frontier(problem), rcvi(problem)}) {
      const Simulation simulation = simulate(problem, solution.policy, options, {.threads = 2});
      const SampledTotal& kept = simulation.constraints[0];
      EXPECT_GT(kept.standard_error, 1e-5);
      EXPECT_NEAR(kept.mean, solution.constraints[0].worst, 4 * kept.standard_error);
    }
  }
}

TEST(ChanceSeveral, GoTogetherWithEachOtherAndWithExpectations) {
  for (const Uncertainty& set : kSets) {
    SCOPED_TRACE(name(set));
    RandomOptions o = shape(2, set);
    o.constraints = 2;
    o.horizon = 3;
    const Problem one = testing::random_chance_problem(7, o);
    Terms terms = one.terms();
    terms.constraints.push_back(with_probability(at_least("cost1", 1), 0.3));
    terms.constraints[0].probability = 0.2;
    terms.constraints[1].bound = 1;
    const Problem problem = one.with(terms);
    const Solution exact = frontier(problem, {.tolerance = 1e-2}), budget = rcvi(problem);
    EXPECT_NE(exact.status, Status::violated);
    for (const Solution* solution : {&exact, &budget}) {
      testing::expect_same(evaluate(problem, solution->policy), verify(problem, solution->policy),
                           1e-9);
      EXPECT_EQ(solution->constraints[2].probability, 0.3);
    }
  }
}

TEST(ChanceSolution, IsSavedWithItsPolicyAndItsCurve) {
  const Problem problem = with_share(testing::random_chance_problem(5, shape(4, TV{0.15})), 0.5);
  const Solution solution = frontier(problem);
  const auto path = testing::own_path("chance.h5");
  save_solution(solution, path);
  const Solution loaded = load_solution(path);
  std::filesystem::remove(path);
  EXPECT_TRUE(loaded == solution);
  EXPECT_EQ(evaluate(problem, loaded.policy).constraints[0].worst, solution.constraints[0].worst);
  ASSERT_GT(solution.curve.size(), 1u);
  for (const CurvePoint& point : solution.curve) {
    const Policy there = policy_at(problem, solution, point.constraints);
    const Evaluation evaluation = evaluate(problem, there);
    EXPECT_GE(evaluation.reward.worst, point.reward - 1e-9);
    EXPECT_GE(evaluation.constraints[0].worst, point.constraints[0] - 1e-9);
  }
}

// What is proved of totals that are rounded for the policy holds for the problem itself.
TEST(ChanceRounded, BracketsTheBestHistoryPolicies) {
  int bracketed = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions o = shape(seed & 3, Nominal{});
    o.states = 3;
    o.horizon = 3;
    const Problem rough = testing::random_problem(seed, o);
    Terms terms = rough.terms();
    terms.constraints = {with_probability(at_least("cost0", 1), 0.5)};
    const Problem problem = with_share(rough.with(terms), 0.6);
    const double best = brute_force(problem);
    const Solution solution = frontier(problem, {.tolerance = 1e-5});
    ASSERT_TRUE(solution.status == Status::feasible || solution.status == Status::certified);
    EXPECT_LE(solution.reward.worst, best + 1e-9);
    EXPECT_GE(*solution.reward.bound, best - 1e-9);
    bracketed += *solution.gap() < 0.05;
  }
  EXPECT_GT(bracketed, 4);
}

// Totals off the lattice and with a discount: sound, and said.
TEST(ChanceRounded, SaysSo) {
  RandomOptions o = shape(1, KL{0.05});
  o.horizon = 3;
  const Problem rough = testing::random_problem(4, o);
  Terms terms = rough.terms();
  terms.constraints = {with_probability(at_most("cost0", 2), 0.5)};
  for (const double discount : {1.0, 0.9}) {
    terms.discount = discount;
    const Problem problem = with_share(rough.with(terms), 0.4);
    terms = problem.terms();
    for (const Solution& solution : {frontier(problem), rcvi(problem)}) {
      EXPECT_TRUE(solution.status == Status::feasible || solution.status == Status::certified);
      EXPECT_EQ(solution.reward.bound.has_value(), solution.method == "frontier");
      EXPECT_THAT(solution.notes.back(), HasSubstr("'cost0' lie on no lattice"));
      testing::expect_same(evaluate(problem, solution.policy), verify(problem, solution.policy),
                           1e-9);
      terms.uncertainty = Nominal{};
      const double counted = evaluate(problem.with(terms), solution.policy).constraints[0].worst;
      EXPECT_LE(counted, testing::kept_probability(problem, solution.policy, 0) + 1e-12);
      terms.uncertainty = KL{0.05};
    }
  }
  terms.discount = 0.9;
  terms.uncertainty = Tilt{};
  EXPECT_THAT(error_of([&] { rcvi(rough.with(terms)); }), HasSubstr("the discount must be 1"));
}

TEST(ChanceThreads, SameBits) {
  const Problem problem = with_share(testing::random_chance_problem(5, shape(4, TV{0.15})), 0.6);
  for (const auto solve :
       {+[](const Problem&p, int threads) { return frontier(p, {}, {.threads = threads}); },
        +[](const Problem&p, int threads) { return rcvi(p, {}, {.threads = threads}); }}) {
    const Solution one = solve(problem, 1), many = solve(problem, 3);
    EXPECT_TRUE(one.policy == many.policy);
    EXPECT_EQ(one.constraints, many.constraints);
    EXPECT_EQ(one.reward, many.reward);
  }
}

TEST(ChancePlan, CountsThePairsOfStateAndBudget) {
  const Problem problem = testing::random_chance_problem(5, shape(4, TV{0.15}));
  const RcviPlan plan = plan_rcvi(problem);
  EXPECT_EQ(plan.augmented_states, augment(problem).problem.model().states());
  ASSERT_EQ(plan.axes.size(), 1u);
  EXPECT_TRUE(plan.axes[0].exact);
  EXPECT_EQ(plan.axes[0].step, 0.5);
}

}  // namespace
}  // namespace redoubt
