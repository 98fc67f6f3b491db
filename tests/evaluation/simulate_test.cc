#include "redoubt/simulate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

// Within four standard errors, plus what rounding may do to totals that do not vary.
void expect_mean(const SampledTotal& sample, double expected) {
  const double rounding = 1e-7 * std::max(1.0, std::abs(expected));  // and the cut of a horizon
  EXPECT_NEAR(sample.mean, expected, 4 * sample.standard_error + rounding) << sample.name;
}

void expect_agreement(const Problem& problem, const Policy& policy, std::uint64_t seed) {
  const Evaluation worst = evaluate(problem, policy);
  SimulateOptions options{.episodes = 2000, .seed = seed, .nature = {Nature::Against::reward}};
  expect_mean(simulate(problem, policy, options).reward, worst.reward.worst);
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
    options.nature = {Nature::Against::constraint, c};
    expect_mean(simulate(problem, policy, options).constraints[c], worst.constraints[c].worst);
  }
}

TEST(Simulate, WorstNatureTendsToTheEvaluation) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Problem p = testing::random_problem(seed, testing::random_options(seed));
    expect_agreement(p, testing::random_markov_policy(seed, p), seed);
    expect_agreement(p, testing::random_table_policy(seed, p), seed);
    expect_agreement(p, testing::random_budget_policy(seed, p, Rounding::mixed), seed);
  }
}

TEST(Simulate, NominalNatureTendsToTheNominalEvaluation) {
  const Problem p = make("river_swim(horizon=10,start=3)");
  const Policy policy = rcvi(p).policy;
  Terms terms = p.terms();
  terms.uncertainty = Nominal{};
  const Evaluation nominal = evaluate(p.with(terms), policy);
  const Simulation simulation = simulate(p, policy, {.episodes = 20000, .seed = 7});
  expect_mean(simulation.reward, nominal.reward.worst);
  expect_mean(simulation.constraints[0], nominal.constraints[0].worst);
  EXPECT_GT(simulation.constraints[0].standard_error, 0);
  EXPECT_EQ(simulation.cut, std::nullopt);
}

TEST(Simulate, SameEpisodesOnAnyNumberOfThreads) {
  const Problem p = make("river_swim(horizon=10,start=3)");
  const Policy policy = rcvi(p, {.budget_step = 0.05, .rounding = Rounding::mixed}).policy;
  const SimulateOptions options{
      .episodes = 1500, .seed = 3, .nature = nature_of(p, "worst-reward")};
  const Simulation one = simulate(p, policy, options, {.threads = 1});
  for (const int threads : {2, 4}) {
    const Simulation many = simulate(p, policy, options, {.threads = threads});
    EXPECT_EQ(one.reward.totals, many.reward.totals);
    EXPECT_EQ(one.constraints[0].totals, many.constraints[0].totals);
    EXPECT_EQ(one.reward.mean, many.reward.mean);
  }
  SimulateOptions other = options;
  other.seed = 4;
  EXPECT_NE(one.reward.totals, simulate(p, policy, other).reward.totals);
}

TEST(Simulate, MoreEpisodesBeginWithTheSameOnes) {
  const Problem p = make("river_swim(horizon=10,start=3)");
  const Policy policy = robust(p).policy;
  const auto few = simulate(p, policy, {.episodes = 10}).reward.totals;
  const auto many = simulate(p, policy, {.episodes = 300}).reward.totals;
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(Simulate, InfiniteHorizonIsCutWhereTheRestIsNegligible) {
  const Problem p = make("river_swim");
  const Simulation simulation = simulate(p, robust(p).policy, {.episodes = 1, .tolerance = 1e-3});
  EXPECT_EQ(simulation.cut, 66);  // 0.9^65 > 1e-3 > 0.9^66
  EXPECT_EQ(simulation.reward.standard_error, 0);
}

TEST(Simulate, StopsBetweenBatches) {
  const Problem p = make("river_swim(horizon=10,start=3)");
  int calls = 0;
  const Execution execution{.progress = [&](double) { return ++calls < 2; }};
  const Simulation stopped = simulate(p, robust(p).policy, {.episodes = 300000}, execution);
  EXPECT_LT(stopped.reward.totals.size(), 300000u);
  EXPECT_GT(stopped.reward.totals.size(), 0u);
  const auto all = simulate(p, robust(p).policy, {.episodes = 300000}).reward.totals;
  EXPECT_TRUE(std::equal(stopped.reward.totals.begin(), stopped.reward.totals.end(), all.begin()));
}

TEST(Simulate, SaysWhatIsWrong) {
  const Problem p = make("river_swim(horizon=10)");
  const Policy policy = robust(p).policy;
  EXPECT_THAT(error_of([&] { simulate(p, policy, {.episodes = 0}); }), HasSubstr("episodes = 0"));
  EXPECT_THAT(error_of([&] { nature_of(p, "worst-fuel"); }),
              HasSubstr("nature 'worst-fuel', must be one of nominal, worst-reward, worst-cost"));
  EXPECT_THAT(error_of([&] {
                simulate(p, policy, {.nature = {Nature::Against::constraint, 1}});
              }),
              HasSubstr("constraint 1, the problem has 1"));
}

}  // namespace
}  // namespace redoubt
