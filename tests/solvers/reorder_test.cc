// A problem in another order has the same optimum.
#include "redoubt/reorder.h"

#include <gtest/gtest.h>

#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "support/random_problem.h"
#include "support/shuffled.h"

namespace redoubt {
namespace {

using testing::kEverySet;

class Reordered : public ::testing::TestWithParam<int> {
 protected:
  Problem problem(std::uint64_t seed, int constraints) const {
    testing::RandomOptions options;
    options.states = 12;
    options.horizon = 4;
    options.signals = options.constraints = constraints;
    options.uncertainty = kEverySet[GetParam()];
    options.names = seed % 2 == 1;
    return testing::random_problem(seed, testing::shaped(options, seed));
  }
};

TEST_P(Reordered, HasTheSameRobustOptimum) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    const Problem given = problem(seed, 1);
    const Solution expected = robust(given);
    for (const Problem& other :
         {reorder(given), reorder(given, testing::shuffled(given.model().states(), seed))})
      EXPECT_NEAR(robust(other).reward.worst, expected.reward.worst, 1e-9);
  }
}

TEST_P(Reordered, HasTheSameConstrainedOptimum) {
  if (std::holds_alternative<Tilt>(kEverySet[GetParam()])) return;  // frontier does not take it
  int feasible = 0;
  for (const std::uint64_t seed : {0, 2, 5, 10, 15}) {
    SCOPED_TRACE(seed);
    const Problem given = problem(seed, 1);
    const Problem other = reorder(given);
    const Solution expected = frontier(given), found = frontier(other);
    EXPECT_EQ(found.status, expected.status);
    if (expected.status == Status::infeasible) continue;  // its policies are of no use
    ++feasible;
    // Each bracket holds the optimum of both.
    EXPECT_LE(found.reward.worst, *expected.reward.bound + 1e-9);
    EXPECT_LE(expected.reward.worst, *found.reward.bound + 1e-9);
  }
  EXPECT_GE(feasible, 2);
}

INSTANTIATE_TEST_SUITE_P(Sets, Reordered,
                         ::testing::Range(0, static_cast<int>(std::size(kEverySet))));

}  // namespace
}  // namespace redoubt
