#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "redoubt/chance.h"
#include "redoubt/evaluate.h"
#include "redoubt/simulate.h"
#include "redoubt/verify.h"
#include "redoubt/worst_kernel.h"
#include "support/chance_reference.h"
#include "support/expect_error.h"
#include "support/random_policy.h"

// Chance constraints: the augmented problem, and what the tools for policies say of any policy.
namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::kEverySet;
using testing::RandomOptions;

// Shapes, one bit each.
RandomOptions shape(std::uint64_t seed, const Uncertainty& set) {
  RandomOptions o{.states = 4, .actions = 2, .successors = 2, .signals = 2, .horizon = 4};
  o.uncertainty = set;
  return testing::shaped(o, seed);
}

// One state, one action: a coin earns 1 or nothing, twice. At least 1 comes with 3/4, at least 2
// with 1/4.
Problem two_coins(double bound, const Uncertainty& set = Nominal{}) {
  ModelBuilder builder(1, {"heads"});
  builder.add(0, 0, 0, {.outcomes = {{0, 0.5, 0, {0.0}}, {0, 0.5, 0, {1.0}}}});
  Terms terms{.horizon = 2, .uncertainty = set};
  terms.constraints = {with_probability(at_least("heads", bound), 0.5)};
  return Problem(builder.build(), terms);
}

TEST(Chance, IsTheProbabilityOfTheTotal) {
  const Policy policy = markov_policy(two_coins(1), {{1}});
  const auto worst = [&](const Problem& problem) {
    testing::expect_same(evaluate(problem, policy), verify(problem, policy), 1e-12);
    return evaluate(problem, policy).constraints[0].worst;
  };
  EXPECT_NEAR(worst(two_coins(0)), 1, 1e-12);
  EXPECT_NEAR(worst(two_coins(1)), 0.75, 1e-12);
  EXPECT_NEAR(worst(two_coins(2)), 0.25, 1e-12);
  EXPECT_NEAR(worst(two_coins(2.5)), 0, 1e-12);
  // Nature takes .1 from each coin that still matters: at least one head is 1 - .6 * .6.
  EXPECT_NEAR(worst(two_coins(1, TV{0.1, Reach::support})), 1 - 0.36, 1e-12);
  EXPECT_NEAR(worst(two_coins(2, TV{0.1, Reach::support})), 0.16, 1e-12);
  EXPECT_TRUE(evaluate(two_coins(1), policy).constraints[0].satisfied);
  EXPECT_FALSE(evaluate(two_coins(2), policy).constraints[0].satisfied);
}

TEST(Chance, AugmentsWithWhatIsStillToBeEarned) {
  const AugmentedProblem augmented = augment(two_coins(1));
  EXPECT_TRUE(augmented.exact());
  EXPECT_EQ(augmented.problem.model().states(), 2);  // 1 to go, nothing to go
  EXPECT_EQ(augmented.problem.model().stages(), 1);
  EXPECT_FALSE(has_chance_constraints(augmented.problem));
  EXPECT_EQ(augmented.kept_at_start(0), 0);
  EXPECT_EQ(augmented.problem.constraints()[0].bound, 0.5);
  EXPECT_EQ(augment(two_coins(0)).problem.constraints()[0].bound, -0.5);  // kept from the start
  EXPECT_EQ(augment(two_coins(0)).kept_at_start(0), 1);
}

TEST(Chance, EveryPolicyAndSetAgreesWithTheVerification) {
  int open = 0;  // cases in which the constraint is neither kept for certain nor lost
  for (const Uncertainty& set : kEverySet) {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      SCOPED_TRACE(::testing::Message() << name(set) << " seed " << seed);
      RandomOptions o = shape(seed, set);
      if (seed % 4 == 3) o.discount = 0.8;
      o.constraints = 2;
      const Problem problem = testing::random_chance_problem(seed, o);
      for (const Policy& policy : {testing::random_markov_policy(seed, problem),
                                   testing::random_table_policy(seed, problem)}) {
        const Evaluation evaluation = evaluate(problem, policy);
        testing::expect_same(evaluation, verify(problem, policy), 1e-9);
        const double worst = evaluation.constraints[0].worst;
        open += worst > 0.01 && worst < 0.99;
        if (!std::holds_alternative<Nominal>(set)) continue;
        const double exact = testing::kept_probability(problem, policy, 0);
        if (augment(problem).exact())
          EXPECT_NEAR(evaluation.constraints[0].worst, exact, 1e-12);
        else
          EXPECT_LE(evaluation.constraints[0].worst, exact + 1e-12);
      }
    }
  }
  EXPECT_GT(open, 100);
}

// Off the lattice the total counts for less than it is: never above the truth, and close to it.
TEST(Chance, OffTheLatticeIsRoundedAgainstThePolicy) {
  double largest = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    RandomOptions o = shape(seed & 7, Nominal{});
    if (seed % 2) o.discount = 0.9;
    const Problem rough = testing::random_problem(seed, o);
    Terms terms = rough.terms();
    terms.constraints = {
        with_probability(seed % 3 ? at_least("cost0", 1.7) : at_most("cost0", 1.9), 0.5)};
    const Problem problem = rough.with(terms);
    EXPECT_FALSE(augment(problem).exact());
    const Policy policy = testing::random_table_policy(seed, problem);
    const double counted = evaluate(problem, policy).constraints[0].worst;
    const double exact = testing::kept_probability(problem, policy, 0);
    EXPECT_LE(counted, exact + 1e-12);
    largest = std::max(largest, exact - counted);
  }
  EXPECT_LT(largest, 0.05);
}

TEST(Chance, LiftedIsLoweredAgain) {
  for (const Uncertainty& set : kEverySet) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(::testing::Message() << name(set) << " seed " << seed);
      const Problem problem = testing::random_chance_problem(seed, shape(seed, set));
      const AugmentedProblem augmented = augment(problem);
      const Policy inner = testing::random_table_policy(seed, augmented.problem);
      const Evaluation there = evaluate(augmented.problem, inner);
      const Policy lifted = to_original(augmented, inner);
      check_policy(problem, lifted);
      const Evaluation here = evaluate(problem, lifted);
      EXPECT_NEAR(here.reward.worst, there.reward.worst, 1e-12);
      EXPECT_NEAR(here.constraints[0].worst,
                  augmented.kept_at_start(0) + there.constraints[0].worst, 1e-12);
      const Evaluation again = evaluate(augmented.problem, to_augmented(augmented, lifted));
      EXPECT_NEAR(again.constraints[0].worst, there.constraints[0].worst, 1e-12);
    }
  }
}

// Nature's choices against a chance constraint, followed forward, do what they claim.
TEST(Chance, WorstKernelDoesWhatItClaims) {
  for (const Uncertainty& set : kEverySet) {
    SCOPED_TRACE(name(set));
    const Problem problem = testing::random_chance_problem(5, shape(5, set));
    const AugmentedProblem augmented = augment(problem);
    const Policy policy =
        to_original(augmented, testing::random_table_policy(1, augmented.problem));
    SimulateOptions options{.episodes = 40'000, .nature = nature_of(problem, "chance-cost0")};
    const Simulation simulation = simulate(problem, policy, options, {.threads = 2});
    const double worst = evaluate(problem, policy).constraints[0].worst;
    // What happens less than once in all episodes is not seen.
    EXPECT_NEAR(simulation.constraints[0].mean, worst,
                4 * simulation.constraints[0].standard_error + 4.0 / 40'000);
    WorstKernel kernel(problem, policy, options.nature);
    double at_start = 0;
    for (std::size_t i = 0; i < problem.start().states.size(); ++i) {
      const State s = problem.start().states[i];
      for (const MemoryMove& move : start_memory(policy, s)) {
        const Policy::Stage& stage = policy.stages[0];
        for_each_choice(stage, stage.begin(s) + move.memory, [&](std::int32_t action, double w) {
          const RowDistribution& chosen = kernel.at(0, s, move.memory, action);
          double sum = chosen.landing;
          for (const double p : chosen.probability) sum += p;
          EXPECT_NEAR(sum, 1, 1e-9);
          at_start += problem.start().probability[i] * move.weight * w * chosen.value;
        });
      }
    }
    EXPECT_NEAR(at_start, worst, 1e-9);
  }
}

TEST(Chance, SaysWhatIsWrong) {
  const Problem problem = two_coins(1);
  const Policy forgets = markov_policy(problem, {{1}});
  WorstKernel kernel(problem, forgets, nature_of(problem, "worst-heads"));
  EXPECT_NEAR(kernel.at(0, 0, 0, 0).value, 0.75, 1e-12);
  EXPECT_THAT(error_of([&] { kernel.at(1, 0, 0, 0); }),
              HasSubstr("does not remember the budget of the chance constraint on 'heads'"));
  Terms terms = problem.terms();
  terms.horizon = std::nullopt;
  terms.discount = 0.9;
  const Problem endless = problem.with(terms);
  EXPECT_THAT(error_of([&] { evaluate(endless, markov_policy(endless, {{1}})); }),
              HasSubstr("chance constraint on 'heads' has an infinite horizon"));
  EXPECT_THAT(error_of([&] { nature_of(problem, "worst-tails"); }), HasSubstr("chance-heads"));
}

TEST(Chance, WithoutAStageIsKeptOrNot) {
  Terms terms = two_coins(0).terms();
  terms.horizon = 0;
  const Problem over(two_coins(0).model(), terms);
  Policy nothing;
  nothing.states = 1;
  EXPECT_EQ(evaluate(over, nothing).constraints[0].worst, 1);
  terms.constraints[0].bound = 1;
  EXPECT_EQ(evaluate(over.with(terms), nothing).constraints[0].worst, 0);
  EXPECT_EQ(verify(over.with(terms), nothing).constraints[0].worst, 0);
}

}  // namespace
}  // namespace redoubt
