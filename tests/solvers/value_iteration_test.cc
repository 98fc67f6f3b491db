#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "solvers/value_iteration/changed_states.h"
#include "support/expect_error.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using internal::ChangedStates;
using testing::RandomOptions;

// Ordinary value iteration, in long double.
long double best_expected(const Problem& problem, int stages) {
  const Model& model = problem.model();
  std::vector<long double> next(model.states(), 0), here = next;
  for (int h = stages; h-- > 0; next = here) {
    for (State s = 0; s < model.states(); ++s) {
      here[s] = model.row_begin(h, s) < model.row_end(h, s) ? -1e300L : 0;
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        long double q = model.value(-1, row);
        for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
          q += model.arrays().probability[i] *
               (model.outcome_value(-1, i) + problem.discount() * next[model.arrays().next[i]]);
        }
        here[s] = std::max(here[s], q);
      }
    }
  }
  long double sum = 0;
  for (std::size_t i = 0; i < problem.start().states.size(); ++i)
    sum += problem.start().probability[i] * next[problem.start().states[i]];
  return sum;
}

Problem nominal_problem(std::uint64_t seed, double bound) {
  RandomOptions o = testing::random_options(seed);
  o.horizon = o.horizon.value_or(4);
  o.signals = o.constraints = 1;
  o.uncertainty = Nominal{};
  const Problem problem = testing::random_problem(seed, o);
  Terms terms = problem.terms();
  terms.constraints = {at_most("cost0", bound)};
  return problem.with(terms);
}

TEST(ValueIteration, WithoutUncertaintyAndPressureAllMethodsAreTheOrdinaryOne) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = nominal_problem(seed, 1000);
    const auto expected = static_cast<double>(best_expected(problem, problem.horizon()));
    EXPECT_NEAR(rcvi(problem).reward.worst, expected, 1e-12);
    EXPECT_NEAR(robust(problem).reward.worst, expected, 1e-12);
    EXPECT_NEAR(nominal(problem).reward.worst, expected, 1e-12);
    EXPECT_EQ(robust(problem).status, Status::certified);
    EXPECT_NEAR(*robust(problem).reward.bound, expected, 1e-12);
  }
}

TEST(ValueIteration, InfiniteHorizonTendsToALongOne) {
  RandomOptions o;
  o.horizon = std::nullopt;
  o.discount = 0.7;
  o.uncertainty = Nominal{};
  const Problem problem = testing::random_problem(1, o);
  const auto expected = static_cast<double>(best_expected(problem, 120));
  EXPECT_NEAR(robust(problem).reward.worst, expected, 1e-11);
}

TEST(ValueIteration, RadiusZeroIsNoUncertainty) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Problem problem = nominal_problem(seed, 1);
    const Solution plain = rcvi(problem);
    Terms terms = problem.terms();
    for (const Uncertainty& set : {Uncertainty{TV{0}}, Uncertainty{TV{0, Reach::support}},
                                   Uncertainty{Chi2{0}}, Uncertainty{KL{0}}}) {
      terms.uncertainty = set;
      const Solution none = rcvi(problem.with(terms));
      EXPECT_EQ(none.reward.worst, plain.reward.worst) << name(set);
      EXPECT_EQ(none.constraints[0].worst, plain.constraints[0].worst) << name(set);
    }
  }
}

TEST(ValueIteration, WithoutConstraintsRcviIsRobust) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomOptions o = testing::random_options(seed);
    o.constraints = 0;
    const Problem problem = testing::random_problem(seed, o);
    const Solution a = rcvi(problem), b = robust(problem);
    EXPECT_EQ(a.reward.worst, b.reward.worst);
    EXPECT_EQ(a.method, "rcvi");
    EXPECT_TRUE(a.policy == b.policy);
  }
}

// Of all policies tried, none does better than the one found, on its own terms.
TEST(ValueIteration, NoPolicyBeatsIt) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const RandomOptions o = testing::random_options(seed);
    if (std::holds_alternative<Tilt>(o.uncertainty)) continue;  // not monotone: no such promise
    const Problem problem = testing::random_problem(seed, o);
    const Solution best = robust(problem);
    testing::expect_same(evaluate(problem, best.policy), verify(problem, best.policy), 1e-9);
    for (std::uint64_t other = 0; other < 5; ++other) {
      const Policy policy = testing::random_table_policy(other, problem);
      const Evaluation tried = evaluate(problem, policy);
      EXPECT_LE(tried.reward.worst, best.reward.worst + 1e-9);
      for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
        const AchievableRange range = achievable_range(problem, c);
        const double low = std::min(range.best, range.worst),
                     high = std::max(range.best, range.worst);
        EXPECT_GE(tried.constraints[c].worst, low - 1e-9);
        EXPECT_LE(tried.constraints[c].worst, high + 1e-9);
      }
    }
  }
}

// The bound speaks of policies that keep the constraints: one that does not has no gap to it.
TEST(ValueIteration, HasAGapOnlyWhenItKeepsTheConstraints) {
  const Problem loose = make("river_swim(horizon=4,start=0,bound=4)");
  const Solution keeps = robust(loose);
  ASSERT_EQ(keeps.status, Status::certified);
  EXPECT_NEAR(keeps.gap().value(), 0, 1e-12);
  const Solution breaks = robust(make("river_swim(horizon=4,start=0,bound=.001)"));
  ASSERT_EQ(breaks.status, Status::violated);
  EXPECT_EQ(breaks.reward.bound, keeps.reward.bound);
  EXPECT_EQ(breaks.gap(), std::nullopt);
}

TEST(ValueIteration, ZeroCostIsNotMinusZero) {
  const AchievableRange range = achievable_range(make("river_swim(horizon=0,start=0)"), 0);
  EXPECT_FALSE(std::signbit(range.best));
  EXPECT_FALSE(std::signbit(range.worst));
}

// The worst case under a tilt is not monotone, so that a maximum taken stage by stage proves
// nothing.
TEST(ValueIteration, PromisesNothingUnderATilt) {
  RandomOptions o;
  o.uncertainty = Tilt{0.5};
  EXPECT_FALSE(robust(testing::random_problem(1, o)).reward.bound.has_value());
}

TEST(ValueIteration, BracketsTheOptimumAsCloselyAsItIsAsked) {
  const std::vector<Uncertainty> sets = {Nominal{}, TV{0.1}, TV{0.1, Reach::support}, Chi2{0.1},
                                         KL{0.1}};
  for (const Uncertainty& set : sets) {
    SCOPED_TRACE(name(set));
    const Problem whole =
        make("garnet(states=12,actions=4,successors=3,horizon=infinite,discount=0.95,start=0)");
    Terms terms = whole.terms();
    terms.uncertainty = set;
    terms.constraints.clear();
    const Problem problem = whole.with(std::move(terms));
    const Solution exact = robust(problem, {.tolerance = 1e-11});
    std::int64_t sweeps = 0;
    for (const double tolerance : {0.1, 1e-3, 1e-6}) {
      const Solution solution = robust(problem, {.tolerance = tolerance});
      EXPECT_EQ(solution.status, Status::certified);
      EXPECT_LE(*solution.gap(), tolerance * *solution.reward.bound);
      EXPECT_GE(*solution.reward.bound, exact.reward.worst);
      EXPECT_LE(solution.reward.worst, *exact.reward.bound);
      EXPECT_NEAR(solution.reward.worst, verify(problem, solution.policy).reward.worst,
                  1e-10 * solution.reward.worst);
      EXPECT_GE(solution.iterations, sweeps);
      sweeps = solution.iterations;
    }
    EXPECT_GT(exact.iterations, robust(problem, {.tolerance = 0.1}).iterations);
  }
}

TEST(ValueIteration, RefusesATolerance) {
  const Problem problem = make("river_swim(horizon=3,start=3)");
  for (const double tolerance : {0.0, 1.0, -1.0, std::nan("")}) {
    const auto rule = fmt::format("tolerance = {}, must be in (0, 1)", tolerance);
    EXPECT_EQ(testing::error_of([&] { robust(problem, {.tolerance = tolerance}); }), rule);
    EXPECT_EQ(testing::error_of([&] { nominal(problem, {.tolerance = tolerance}); }), rule);
  }
}

// The sweeps of a finite horizon are the evaluation of the policy that they find.
TEST(ValueIteration, AFiniteHorizonIsEvaluatedByItsOwnSweeps) {
  for (std::uint64_t seed = 0; seed < 70; ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions o = testing::random_options(seed);
    o.horizon = 1 + static_cast<int>(seed % 9);
    o.constraints = 0;
    o.uncertainty = testing::kEverySet[seed % testing::kEverySet.size()];
    const Problem problem = testing::random_problem(seed, o);
    const Solution solution = robust(problem);
    EXPECT_EQ(solution.reward.worst, evaluate(problem, solution.policy).reward.worst);
    EXPECT_NEAR(solution.reward.worst, verify(problem, solution.policy).reward.worst, 1e-9);
    const Solution expected = nominal(problem);
    EXPECT_EQ(expected.reward.worst, evaluate(problem, expected.policy).reward.worst);
  }
}

// The second action earns more by rounding alone, and the first is taken: what it earns is the
// answer, and not what the best row of every sweep earns.
TEST(ValueIteration, TiesButForRoundingAreWorthWhatIsTaken) {
  ModelBuilder builder(1, {});
  builder.add(0, 0, 0, {.reward = 0.3, .outcomes = {{.next = 0, .probability = 1}}});
  builder.add(0, 0, 1, {.reward = 0.1 + 0.2, .outcomes = {{.next = 0, .probability = 1}}});
  const Problem problem(builder.build(), {.horizon = 7});
  const Solution solution = robust(problem);
  EXPECT_EQ(solution.policy.stages[0].mixed[0].safe, 0);
  double sum = 0;
  for (int h = 0; h < 7; ++h) sum = 0.3 + sum;
  EXPECT_EQ(solution.reward.worst, sum);
  EXPECT_GT(*solution.reward.bound, sum);
  EXPECT_EQ(solution.status, Status::certified);
}

// What counts as rounding is measured by what decisions earn: in a unit a billion billion times
// smaller, the same policy is found.
TEST(ValueIteration, SmallRewardsDecideAsLargeOnesDo) {
  RandomOptions o;
  o.states = 30;
  for (const Uncertainty& set : testing::kEverySet) {
    for (const bool infinite : {false, true}) {
      o.uncertainty = set;
      if (infinite) o.horizon.reset();
      o.discount = infinite ? 0.9 : 1;
      const Problem problem = testing::random_problem(5, o);
      ModelArrays arrays = problem.model().arrays();
      const double unit = std::ldexp(1.0, -60);
      for (auto* values : {&arrays.reward, &arrays.outcome_reward, &arrays.arrival_reward})
        for (double& value : *values) value *= unit;
      const Problem small(Model(std::move(arrays)), problem.terms());
      SCOPED_TRACE(name(set));
      if (std::holds_alternative<Tilt>(set)) continue;  // whose temperature has a unit of its own
      EXPECT_TRUE(robust(small).policy == robust(problem).policy);
    }
    o.horizon = 4;
  }
}

// Beyond what a number can be there is no answer, and none is made up.
TEST(ValueIteration, TotalsMustBeNumbers) {
  ModelBuilder builder(1, {});
  builder.add(0, 0, 0, {.reward = 1e299, .outcomes = {{.next = 0, .probability = 1}}});
  const Model model = builder.build();
  EXPECT_EQ(robust(Problem(model, {.horizon = 10})).reward.worst, 1e300);
  EXPECT_EQ(testing::error_of([&] { robust(Problem(model, {.horizon = 100})); }),
            "a value of size 1e+299 for 100 decisions, must be at most 1e+300 in all");
  EXPECT_THAT(testing::error_of([&] { nominal(Problem(model, {.discount = 0.99})); }),
              ::testing::HasSubstr("a value of size 1e+299"));
}

// A walk along a line towards a reward at its end, by one of two gaits, and back again now and
// then. Nothing changes far from the end for a long time. With rows for every stage, no step knows
// that.
Problem walk(const Uncertainty& set, int horizon, int stages, double back) {
  constexpr State kStates = 40;
  ModelBuilder builder(kStates + 1, {}, stages);
  for (int h = 0; h < stages; ++h) {
    for (State s = 0; s < kStates; ++s) {
      for (int gait = 0; gait < 2; ++gait) {
        const double on = gait == 0 ? 0.5 : s % 3 == 0 ? 0.6 : 0.45;
        ModelBuilder::RowData row;
        const auto add = [&](State next, double probability) {
          row.outcomes.push_back({.next = next,
                                  .probability = probability,
                                  .reward = next == kStates ? 1.0 : 0.0,
                                  .lower = 0.8 * probability,
                                  .upper = std::min(1.0, 1.2 * probability)});
        };
        add(s + 1, on);
        add(s, 1 - on - back);
        if (back > 0) add(std::max(0, s - 2), back);
        builder.add(h, s, gait, std::move(row));
      }
    }
  }
  return Problem(builder.build(), {.horizon = horizon, .uncertainty = set});
}

TEST(ValueIteration, StepsOverFewStatesAreThoseOverAll) {
  for (const Uncertainty& set : testing::kEverySet) {
    for (const double back : {0.0, 0.1}) {
      SCOPED_TRACE(name(set));
      const Solution some = robust(walk(set, 150, 1, back));
      const Solution all = robust(walk(set, 150, 150, back));
      EXPECT_EQ(some.reward, all.reward);
      EXPECT_TRUE(some.policy == all.policy);
      EXPECT_GT(some.reward.worst, 0);
      EXPECT_EQ(some.reward, robust(walk(set, 150, 1, back), {}, {.threads = 3}).reward);
      EXPECT_EQ(some.row_evaluations, all.row_evaluations);
    }
  }
}

// What leads to a changed state, and nothing else, is looked at again; never where nature may land
// anywhere, or where rows differ from stage to stage.
TEST(ValueIteration, FewStatesAreThoseThatLeadToChangedOnes) {
  const Problem walking = walk(Nominal{}, 5, 1, 0.1);
  ChangedStates changed(walking);
  std::vector<double> before(41, 0.0), after = before;
  after[20] = 1;
  changed.compare(before, after, 1);
  ASSERT_TRUE(changed.few());
  EXPECT_THAT(changed.affected(), ::testing::UnorderedElementsAre(19, 20, 22));
  changed.update(std::vector<double>(3, 2.0), after);
  EXPECT_EQ(after[19] + after[20] + after[22], 6);
  EXPECT_THAT(changed.affected(), ::testing::UnorderedElementsAre(18, 19, 20, 21, 22, 24));
  changed.update(std::vector<double>(6, 2.0), after);
  ASSERT_TRUE(changed.few());

  ChangedStates all(walking);
  all.compare(before, std::vector<double>(41, 1.0), 41);
  EXPECT_FALSE(all.few());
  for (const Problem& problem : {walk(TV{0.1}, 5, 1, 0.1), walk(Nominal{}, 5, 5, 0.1)}) {
    ChangedStates never(problem);
    never.compare(before, before, 0);
    EXPECT_FALSE(never.few());
  }
}

// A ring of 12 states, of which a third changes at a time, beside 24 in which nothing ever happens.
Problem ring(int horizon, int stages) {
  constexpr State kRing = 12, kStates = 36;
  ModelBuilder builder(kStates, {}, stages);
  for (int h = 0; h < stages; ++h) {
    for (State s = 0; s < kStates; ++s) {
      const bool idle = s >= kRing;
      for (int action = 0; action < (idle ? 1 : 2); ++action) {
        const double on = action == 0 ? 0.7 : s % 4 == 0 ? 0.8 : 0.6;
        ModelBuilder::RowData row;
        row.outcomes = {{.next = idle ? s : (s + 1) % kRing, .probability = idle ? 1 : on}};
        if (!idle) row.outcomes.push_back({.next = kStates - 1, .probability = 1 - on});
        row.reward = s == 0 ? 1 : 0;
        builder.add(h, s, action, std::move(row));
      }
    }
  }
  return Problem(builder.build(), {.horizon = horizon});
}

// A list of states that has become closed is looked at no more, and stays the right one.
TEST(ValueIteration, StepsOverAClosedListAreThoseOverAllStates) {
  const Solution some = robust(ring(60, 1)), all = robust(ring(60, 60));
  EXPECT_EQ(some.reward, all.reward);
  EXPECT_TRUE(some.policy == all.policy);

  const Problem problem = ring(60, 1);
  ChangedStates changed(problem);
  std::vector<double> before(36, 0.0), after = before;
  after[3] = 1;
  changed.compare(before, after, 1);
  const std::vector<State> once = {2};
  EXPECT_THAT(changed.affected(), ::testing::ElementsAreArray(once));
  double value = 1;
  for (int step = 0; step < 30; ++step) {
    const std::vector<double> found(changed.affected().size(), ++value);
    changed.update(found, after);
  }
  const std::vector<State> in_order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_THAT(changed.affected(), ::testing::ElementsAreArray(in_order));
  // One state alone has changed for many steps: what leads to it, and no more.
  for (int step = 0; step < 3; ++step) {
    const std::span<const State> states = changed.affected();
    std::vector<double> found;
    for (const State s : states) found.push_back(s == 5 ? ++value : after[s]);
    changed.update(found, after);
  }
  EXPECT_THAT(changed.affected(), ::testing::ElementsAre(4));
}

TEST(ValueIteration, SameBitsOnAnyNumberOfThreads) {
  RandomOptions o;
  o.states = 400;
  o.horizon = 5;
  const Problem problem = testing::random_problem(4, o);
  const Solution one = robust(problem);
  const Policy policy = testing::random_table_policy(4, problem);
  const Evaluation alone = evaluate(problem, policy);
  for (const int threads : {2, 4}) {
    const Solution many = robust(problem, {}, {.threads = threads});
    EXPECT_EQ(one.reward, many.reward);
    EXPECT_TRUE(one.policy == many.policy);
    const Evaluation together = evaluate(problem, policy, {.threads = threads});
    EXPECT_EQ(alone.reward.worst, together.reward.worst);
    EXPECT_EQ(alone.constraints, together.constraints);
  }
}

}  // namespace
}  // namespace redoubt
