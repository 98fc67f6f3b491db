#include <gtest/gtest.h>

#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "support/random_problem.h"

// Optima are compared with linear and conic programs in tests/python/test_frontier.py, over two and
// three stages. These problems are larger.
namespace redoubt {
namespace {

using testing::random_problem;
using testing::RandomOptions;

struct Case {
  Uncertainty set;
  int constraints;
  bool infinite;
  std::uint64_t seeds;
};

const Case kCases[] = {
    {KL{0.02}, 2, false, 6},   {TV{0.05, Reach::support}, 2, false, 6},
    {Chi2{0.05}, 2, false, 6}, {Interval{}, 2, false, 4},
    {KL{0.02}, 3, false, 3},   {TV{0.05, Reach::support}, 3, false, 3},
    {Chi2{0.05}, 3, false, 3}, {Interval{}, 3, false, 2},
    {KL{0.02}, 2, true, 4},    {TV{0.05, Reach::support}, 2, true, 4},
};

class SeveralConstraints : public ::testing::TestWithParam<int> {};

RandomOptions options_of(const Case& c, std::uint64_t seed) {
  RandomOptions options;
  options.states = 6 + static_cast<State>(seed % 5);
  options.successors = 3 + static_cast<int>(seed % 3);
  options.signals = options.constraints = c.constraints;
  options.uncertainty = c.set;
  options.horizon = 6 + static_cast<int>(2 * seed);
  if (c.infinite) options.horizon.reset(), options.discount = 0.9;
  return options;
}

// No bracket stays open, and no problem ends with a policy that breaks a constraint.
TEST_P(SeveralConstraints, AreCertified) {
  const Case& c = kCases[GetParam()];
  std::uint64_t certified = 0;
  for (std::uint64_t seed = 0; seed < c.seeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = random_problem(seed, options_of(c, seed));
    const Solution solution = frontier(problem, {.tolerance = 1e-2});
    if (solution.status == Status::infeasible) continue;
    ++certified;
    ASSERT_EQ(solution.status, Status::certified);
    const Evaluation again = evaluate(problem, solution.policy);
    EXPECT_TRUE(again.satisfied());
    EXPECT_DOUBLE_EQ(again.reward.worst, solution.reward.worst);
    EXPECT_GE(*solution.reward.bound, solution.reward.worst);
  }
  EXPECT_GE(2 * certified, c.seeds);
}

INSTANTIATE_TEST_SUITE_P(Sets, SeveralConstraints,
                         ::testing::Range(0, static_cast<int>(std::size(kCases))));

}  // namespace
}  // namespace redoubt
