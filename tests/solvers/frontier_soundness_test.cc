#include "redoubt/frontier.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/patience.h"
#include "support/random_problem.h"

// What must hold of every answer of the frontier method, on problems of every shape and set.
// tests/python/test_frontier.py compares its values with linear and conic programs.
namespace redoubt {
namespace {

using testing::random_options;
using testing::random_problem;
using testing::RandomOptions;

double scale(const Solution& solution) {
  return std::max({1.0, std::abs(solution.reward.worst), std::abs(*solution.reward.bound)});
}

// What every solution must satisfy, whatever the problem: its numbers are those of its policy, the
// bracket is one, the status says what the numbers say, and the curve is what the solver claims.
void expect_sound(const Problem& problem, const Solution& solution) {
  const Evaluation evaluation = evaluate(problem, solution.policy);
  const Evaluation verified = verify(problem, solution.policy);
  const double close = 1e-9 * scale(solution);
  EXPECT_NEAR(evaluation.reward.worst, solution.reward.worst, close);
  EXPECT_NEAR(verified.reward.worst, solution.reward.worst, 1e-7 * scale(solution));
  EXPECT_EQ(solution.constraints.size(), problem.constraints().size());
  // Several constraints may be impossible together without a proof; the answer says so.
  const bool unproved =
      solution.constraints.size() > 1 &&
      std::any_of(solution.notes.begin(), solution.notes.end(),
                  [](const std::string& note) { return !note.starts_with("nature may move"); });
  if (unproved && solution.status == Status::violated) return;
  EXPECT_NE(solution.status, Status::violated);
  if (solution.status == Status::infeasible) {
    bool beyond = false;  // one alone, or only all of them together
    for (const ConstraintResult& c : solution.constraints)
      beyond |=
          c.sense == Sense::at_most ? *c.best_achievable > c.bound : *c.best_achievable < c.bound;
    EXPECT_TRUE(beyond || solution.constraints.size() > 1);
    return;
  }
  EXPECT_LE(solution.reward.worst, *solution.reward.bound + close);
  for (const ConstraintResult& c : solution.constraints) EXPECT_TRUE(c.satisfied) << c.name;
}

// The solver's own claim for a point of the curve against what its policy turns out to guarantee.
void expect_curve_kept(const Problem& problem, const Solution& solution) {
  for (const CurvePoint& point : solution.curve) {
    Policy policy = solution.policy;
    policy.start_moves.clear();
    policy.start_begin = {0};
    for (std::size_t i = 0; i < policy.start_states.size(); ++i) {
      policy.start_moves.push_back({point.memory, 1.0});
      policy.start_begin.push_back(static_cast<std::int64_t>(i) + 1);
    }
    const Evaluation evaluation = evaluate(problem, policy);
    EXPECT_GE(evaluation.reward.worst, point.reward - 1e-9 * std::max(1.0, std::abs(point.reward)));
    for (std::size_t c = 0; c < point.constraints.size(); ++c) {
      const double sign = problem.constraints()[c].sense == Sense::at_most ? -1 : 1;
      const double claimed = point.constraints[c];
      EXPECT_GE(sign * evaluation.constraints[c].worst,
                sign * claimed - 1e-9 * std::max(1.0, std::abs(claimed)));
    }
  }
}

TEST(FrontierSoundness, EveryAnswerIsSoundOnProblemsOfEveryShape) {
  int certified = 0, solved = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions options = random_options(seed);
    if (std::holds_alternative<Tilt>(options.uncertainty)) continue;
    if (!options.horizon) options.discount = std::min(options.discount, 0.8);
    const Problem problem = random_problem(seed, options);
    const Solution solution = frontier(problem, {.tolerance = 1e-2});
    expect_sound(problem, solution);
    if (problem.constraints().size() <= 1) expect_curve_kept(problem, solution);
    ++solved;
    certified += solution.status == Status::certified || solution.status == Status::infeasible;
  }
  EXPECT_GE(certified, solved * 95 / 100);
}

TEST(FrontierSoundness, NeverBelowRcvi) {
  for (std::uint64_t seed = 0; seed < testing::cases(1000); ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions options;
    options.states = 2 + static_cast<State>(seed % 3);
    options.actions = 2;
    options.successors = 2;
    options.horizon = 1 + static_cast<int>(seed % 4);
    options.random_start = seed % 5 == 0;
    options.outcome_values = seed % 7 == 0;
    const Uncertainty sets[] = {Nominal{}, TV{0.1}, TV{0.2, Reach::support}, Chi2{0.1}, KL{0.05}};
    options.uncertainty = sets[seed % 5];
    const Problem problem = random_problem(seed, options);
    const Solution exact = frontier(problem), budget = rcvi(problem, {.budget_cells = 50});
    EXPECT_NE(exact.status, Status::violated);
    if (budget.status != Status::feasible) continue;
    EXPECT_NE(exact.status, Status::infeasible);
    EXPECT_GE(exact.reward.worst, budget.reward.worst - 1e-3 * scale(exact));
    EXPECT_LE(budget.reward.worst, *exact.reward.bound + 1e-9 * scale(exact));
  }
}

TEST(FrontierSoundness, APromiseIsSplitOverTheStartStates) {
  const Solution solution = frontier(make("river_swim(horizon=10,start=uniform)"));
  EXPECT_EQ(solution.status, Status::certified);
  EXPECT_GT(solution.reward.worst, 1.70);
  EXPECT_LE(solution.constraints[0].worst, 4 + 1e-9);
}

TEST(FrontierSoundness, OneStateIsTheConcaveHullOfItsActions) {
  ModelBuilder builder(1, {"utility"});
  builder.add(0, 0, 0, {1.0, {0.0}, {{0, 1}}});
  builder.add(0, 0, 1, {0.4, {0.5}, {{0, 1}}});  // below the hull
  builder.add(0, 0, 2, {0.8, {0.6}, {{0, 1}}});
  builder.add(0, 0, 3, {0.0, {1.0}, {{0, 1}}});
  const Model model = builder.build();
  const auto hull = [](double u) { return u <= 0.6 ? 1 - u / 3 : 0.8 - (u - 0.6) * 2; };
  for (const int horizon : {1, 3, 6}) {
    for (const double share : {0.0, 0.3, 0.6, 0.75, 1.0}) {
      SCOPED_TRACE(fmt::format("horizon {} share {}", horizon, share));
      Terms terms;
      terms.horizon = horizon;
      terms.uncertainty = KL{0.1};
      terms.constraints = {at_least("utility", share * horizon)};
      const Solution solution = frontier(Problem(model, terms), {.tolerance = 1e-6});
      EXPECT_EQ(solution.status, Status::certified);
      EXPECT_NEAR(solution.reward.worst, hull(share) * horizon, 1e-6 * horizon);
      EXPECT_GE(solution.constraints[0].worst, share * horizon - 1e-9);
    }
  }
}

TEST(FrontierSoundness, OutOfReachIsProvedAndTheBestNamed) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = random_problem(seed);
    const double best = achievable_range(problem, 0).best;
    Terms terms = problem.terms();
    terms.constraints = {at_most("cost0", best - 0.01)};
    const Solution beyond = frontier(problem.with(terms));
    EXPECT_EQ(beyond.status, Status::infeasible);
    EXPECT_NEAR(*beyond.constraints[0].best_achievable, best, 1e-9);
    terms.constraints = {at_most("cost0", best + 1e-6)};
    const Solution within = frontier(problem.with(terms));
    EXPECT_TRUE(within.status == Status::certified || within.status == Status::feasible);
    EXPECT_TRUE(within.constraints[0].satisfied);
  }
}

TEST(FrontierSoundness, InfiniteHorizonsOfRandomProblemsAreCertified) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions options;
    options.horizon.reset();
    options.discount = 0.8;
    const Problem problem = random_problem(seed, options);
    const Solution solution = frontier(problem, {.tolerance = 5e-3});
    expect_sound(problem, solution);
    EXPECT_TRUE(solution.status == Status::certified || solution.status == Status::infeasible);
  }
}

TEST(FrontierSoundness, SameBitsOnAnyNumberOfThreads) {
  for (const Uncertainty& set : {Uncertainty(KL{0.05}), Uncertainty(TV{0.1})}) {
    RandomOptions options;
    options.states = 12;
    options.random_start = true;
    options.uncertainty = set;
    const Problem problem = random_problem(3, options);
    const Solution one = frontier(problem, {}, {.threads = 1});
    for (const int threads : {2, 4}) {
      const Solution many = frontier(problem, {}, {.threads = threads});
      EXPECT_EQ(many.reward, one.reward);
      EXPECT_EQ(many.constraints, one.constraints);
      EXPECT_EQ(many.policy, one.policy);
      EXPECT_EQ(many.curve, one.curve);
    }
  }
}

}  // namespace
}  // namespace redoubt
