#include "solvers/frontier/search/lagrangian.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "evaluation/evaluation.h"
#include "solvers/frontier/search/locate.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::random_problem;
using testing::RandomOptions;
using testing::shaped;

std::vector<Uncertainty> sets_of_distributions() {
  std::vector<Uncertainty> sets = testing::kEverySet;
  std::erase_if(sets, [](const Uncertainty& set) { return std::holds_alternative<Tilt>(set); });
  return sets;
}

// The totals are those of the policies, evaluated as any other.
TEST(Lagrangian, TotalsAreThoseOfThePolicies) {
  std::uint64_t seed = 0;
  for (const Uncertainty& set : sets_of_distributions()) {
    for (std::uint64_t bits = 0; bits < 8; ++bits) {
      RandomOptions options = shaped({.signals = 2, .constraints = 2, .uncertainty = set}, bits);
      const Problem problem = random_problem(++seed, options);
      const std::vector<Channel> channels = channels_of(problem);
      Workers workers(1 + static_cast<int>(seed % 2));
      Exchange exchange(problem.model(), workers.ranks());
      LagrangianPolicies policies(problem, channels, workers, exchange);
      const auto found =
          policies.find({{1, 0, 0}, {1, .5, 2}, {0, 1, 0}, {0, .3, .7}, {1, 9, 9}}, true);
      for (std::size_t lane = 0; lane < found.totals.size(); ++lane) {
        const Evaluation own = evaluate(problem, found.policies[lane], workers).evaluation;
        EXPECT_NEAR(found.totals[lane][0], own.reward.worst, 1e-12);
        for (std::size_t c = 0; c < 2; ++c)
          EXPECT_NEAR(found.totals[lane][c + 1], channels[c + 1].sign * own.constraints[c].worst,
                      1e-12);
      }
    }
  }
}

// A lane that cares for one channel is a robust value iteration of that channel.
TEST(Lagrangian, OneChannelIsValueIteration) {
  for (const Uncertainty& set : sets_of_distributions()) {
    const Problem problem = random_problem(7, {.signals = 1, .uncertainty = set});
    const std::vector<Channel> channels = channels_of(problem);
    Workers workers(1);
    Exchange exchange(problem.model(), workers.ranks());
    LagrangianPolicies policies(problem, channels, workers, exchange);
    const auto found = policies.find({{1, 0}, {0, 1}});
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(found.totals[j][j],
                  value_iteration(problem, channels[j], workers).at(problem.start()), 1e-12);
  }
}

// Where each constraint can be met on its own, one constraint is met by the mixture, and what it
// earns lies between what the safest policy has and what any policy has.
TEST(Locate, TheFirstPolicyKeepsItsConstraint) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomOptions options = shaped({.uncertainty = KL{0.05}}, seed);
    const Problem problem = random_problem(seed, options);
    Workers workers(1);
    Exchange exchange(problem.model(), workers.ranks());
    BestPolicy best;
    const Extremes extremes = find_extremes(problem, workers, best);
    if (extremes.most(1, problem.start()) < extremes.required[0]) continue;
    ++met;
    const Location location = locate(problem, extremes, workers, exchange);
    const Evaluation found = evaluate(problem, location.policy, workers).evaluation;
    EXPECT_TRUE(found.satisfied()) << "seed " << seed;
    EXPECT_GE(found.reward.worst, extremes.totals[1][0] - 1e-12) << "seed " << seed;
    EXPECT_LE(found.reward.worst, extremes.most(0, problem.start()) + 1e-12) << "seed " << seed;
    ASSERT_EQ(location.deviation.size(), static_cast<std::size_t>(problem.horizon()));
    EXPECT_GT(location.prices[0], 0);
    for (std::size_t h = 1; h < location.deviation.size(); ++h)
      EXPECT_GE(location.deviation[h][0], location.deviation[h - 1][0]);
  }
  EXPECT_GE(met, 10);
}

// Kernels that are all the same leave a price where it is.
TEST(Locate, NothingUncertainSpreadsNoPrice) {
  RandomOptions options;
  options.uncertainty = KL{0};
  const Problem problem = random_problem(3, options);
  Workers workers(1);
  Exchange exchange(problem.model(), workers.ranks());
  BestPolicy best;
  const Extremes extremes = find_extremes(problem, workers, best);
  const Location location = locate(problem, extremes, workers, exchange);
  for (const std::vector<double>& stage : location.deviation)
    EXPECT_EQ(stage[0], location.deviation[0][0]);
}

}  // namespace
}  // namespace redoubt
