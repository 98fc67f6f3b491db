#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "redoubt/frontier.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

// An infinite horizon is searched in one stage that leads to itself. Cut where little is left, it
// is a finite one, which is searched stage by stage: what is beyond the cut is all that their
// brackets may differ by.
TEST(Frontier, InfiniteHorizonsAgreeWithLongFiniteOnes) {
  constexpr double kDiscount = 0.7, kTolerance = 5e-3;
  constexpr int kHorizon = 30;
  int certified = 0, infeasible = 0;
  std::uint64_t seed = 0;
  for (const Uncertainty& set : testing::kEverySet) {
    if (std::holds_alternative<Tilt>(set)) continue;
    for (int n = 0; n < 16; ++n) {
      const int constraints = n % 4 == 3 ? 2 : 1;
      ++seed;
      testing::RandomOptions options;
      options.uncertainty = set;
      options.states = 4;
      options.actions = 2 + static_cast<int>(seed % 2);
      options.horizon.reset();
      options.discount = kDiscount;
      options.constraints = options.signals = constraints;
      options.random_start = seed % 2 == 0;
      options.outcome_values = seed % 3 == 0;
      options.terminal = options.ragged = seed % 4 == 0;
      const Problem problem = testing::random_problem(seed, options);
      Terms terms = problem.terms();
      terms.horizon = kHorizon;
      const FrontierOptions asked{.tolerance = constraints == 1 ? kTolerance : 5 * kTolerance};
      const Solution endless = frontier(problem, asked),
                     cut = frontier(problem.with(std::move(terms)), asked);
      SCOPED_TRACE(fmt::format("seed {}, set {}", seed, set.index()));
      ASSERT_EQ(endless.status == Status::infeasible, cut.status == Status::infeasible);
      if (endless.status == Status::infeasible) {
        ++infeasible;
        continue;
      }
      certified += endless.status == Status::certified;
      // Signals are in [0, 1] (outcomes add as much again). A constraint that is looser by what
      // lies beyond the cut is worth a multiple of it, the price, which is small here.
      const double beyond = 100 * 2 * std::pow(kDiscount, kHorizon) / (1 - kDiscount);
      EXPECT_LE(endless.reward.worst, *cut.reward.bound + beyond);
      EXPECT_LE(cut.reward.worst, *endless.reward.bound + beyond);
      EXPECT_EQ(endless.policy.stages.size(), 1U);
    }
  }
  EXPECT_GE(certified, 40);
  EXPECT_GE(infeasible, 10);
}

}  // namespace
}  // namespace redoubt
