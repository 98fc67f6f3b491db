#include "bellman/steps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace redoubt {
using namespace internal;
namespace {

// Ends with probability `out` at each decision.
Problem leaky(double out, const Uncertainty& set) {
  ModelBuilder builder(2, {});
  builder.add(0, 0, 0,
              {.reward = 1,
               .outcomes = {{.next = 0, .probability = 1 - out}, {.next = 1, .probability = out}}});
  return Problem(builder.build(), {.discount = 1, .uncertainty = set});
}

TEST(MostSteps, IsAboveWhatNatureCanMakeAndNotByMuch) {
  Workers workers(1);
  for (const double out : {0.9, 0.1, 1e-3, 1e-5}) {
    for (const double radius : {0.0, 0.5 * out}) {
      const double exact = 1 / (out - radius);
      const auto steps = most_steps(leaky(out, TV{radius, Reach::support}), workers);
      EXPECT_GE(steps[0], exact * (1 - 1e-12));
      EXPECT_LE(steps[0], 1.3 * exact);
      EXPECT_EQ(steps[1], 0);
    }
  }
}

TEST(MostSteps, HasThePlaceOfADiscount) {
  Workers workers(1);
  const Problem problem = leaky(0.1, Nominal{});
  const double discount = contraction(problem, workers);
  EXPECT_GE(1 / (1 - discount), 10 - 1e-9);
  EXPECT_NEAR(problem.found_steps(), 1 / (1 - discount), 1e-9);
  const int stages = stages_until_negligible(problem, 1e-6, workers);
  EXPECT_LE(std::pow(0.9, stages), 1e-7);  // still under way, times the decisions that follow
  EXPECT_LT(stages, 250);
}

}  // namespace
}  // namespace redoubt
