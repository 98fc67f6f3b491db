#include "support/set_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/patience.h"
#include "support/set_laws.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::SetRow;

class AgainstReference : public ::testing::TestWithParam<Uncertainty> {};

// Every instruction set against long double, and so against each other. Measured: below 7e-12 on
// all rows, where the rounding of sums of values near 1e6 is what is left.
TEST_P(AgainstReference, OnNastyRows) {
  const Uncertainty& set = GetParam();
  std::mt19937_64 random(1);
  Scratch scratch;
  double benign = 0;
  int lanes = 0, benign_lanes = 0;
  while (lanes < testing::cases(50000)) {
    const SetRow row = testing::nasty_row(random, set);
    std::vector<long double> expected;
    for (int lane = 0; lane < row.lanes; ++lane)
      expected.push_back(reference_worst_case(set, row, lane));
    for (const InstructionSet instructions : instruction_sets()) {
      const auto worst = solve(worst_case_kernel(set, instructions), row, scratch).worst;
      for (int lane = 0; lane < row.lanes; ++lane) {
        const double error = static_cast<double>(std::abs(worst[lane] - expected[lane])) /
                             testing::error_unit(row, lane);
        ASSERT_LE(error, 1e-9) << name(instructions) << ": " << worst[lane] << " instead of "
                               << static_cast<double>(expected[lane]) << " with " << row.outcomes()
                               << " outcomes, radius " << row.radius;
        if (!is_benign(set, row, lane)) continue;
        benign = std::max(benign, error);
        ++benign_lanes;
      }
    }
    lanes += row.lanes;
  }
  // The greedy fill of a composed set adds up bounds before the ball is worked out.
  EXPECT_LE(benign, std::holds_alternative<Composed>(set) ? 2e-11 : 1e-11);
  EXPECT_GT(benign_lanes, lanes / 10);
}

INSTANTIATE_TEST_SUITE_P(Sets, AgainstReference, ::testing::ValuesIn(testing::every_set()),
                         [](const auto& test) {
                           std::string text = testing::describe(test.param);
                           for (char& letter : text)
                             if (letter == ' ' || letter == '-') letter = '_';
                           return text;
                         });

// Radii so small that their square root, or what is divided by it, underflows: the fuzzer found
// minimisers outside of the set, and NaN.
TEST(SmallRadii, HoldEveryLaw) {
  std::mt19937_64 random(6);
  Scratch scratch;
  for (const double radius : {5e-324, 6e-322, 6e-313, 1e-200, 1e-31, 1e-29, 1e-20})
    for (const Uncertainty& set : {Uncertainty{TV{}}, Uncertainty{Chi2{}}, Uncertainty{KL{}}})
      for (const InstructionSet instructions : instruction_sets()) {
        const SetRow row = testing::plain_row(random, 3, radius);
        EXPECT_EQ(testing::broken_law(set, worst_case_kernel(set, instructions), row), "");
        EXPECT_NEAR(static_cast<double>(reference_worst_case(set, row, 0)),
                    solve(worst_case_kernel(set, instructions), row, scratch).worst[0], 1e-12);
      }
}

double worst_of_two(const Uncertainty& set, double radius, double floor = NAN) {
  SetRow row;
  row.probability = {0.5, 0.5};
  row.lower = {0.25, 0.0};
  row.upper = {0.75, 1.0};
  row.radius = radius;
  row.lanes = 1;
  row.values = {std::vector<double>(kLaneBlock, 0.0), std::vector<double>(kLaneBlock, 1.0)};
  if (!std::isnan(floor)) row.floor.assign(kLaneBlock, floor);
  Scratch scratch;
  return solve(worst_case_kernel(set), row, scratch).worst[0];
}

// Worked out by hand: a fair coin worth 0 or 1. These fix the conventions of the radii.
TEST(SetConventions, OnAFairCoin) {
  EXPECT_DOUBLE_EQ(worst_of_two(Nominal{}, 0.3), 0.5);
  EXPECT_DOUBLE_EQ(worst_of_two(TV{}, 0.2), 0.3);        // half the L1 distance: mass .2 moves
  EXPECT_DOUBLE_EQ(worst_of_two(TV{}, 0.2, -1.0), 0.1);  // to a floor that is lower than both
  EXPECT_DOUBLE_EQ(worst_of_two(TV{}, 0.2, 0.5),
                   0.3);  // a floor above the lowest outcome is no use
  EXPECT_DOUBLE_EQ(worst_of_two(TV{}, 2.0), 0.0);
  EXPECT_DOUBLE_EQ(worst_of_two(Chi2{}, 0.16), 0.3);  // 2 (.2)^2 / .5 = .16
  EXPECT_DOUBLE_EQ(worst_of_two(Chi2{}, 1.0), 0.0);
  const double kl = 0.3 * std::log(0.6) + 0.7 * std::log(1.4);
  EXPECT_NEAR(worst_of_two(KL{}, kl), 0.3, 1e-12);
  EXPECT_DOUBLE_EQ(worst_of_two(KL{}, std::log(2.0)), 0.0);
  EXPECT_DOUBLE_EQ(worst_of_two(Tilt{}, 1.0), 1 / (1 + std::exp(1.0)));
  EXPECT_DOUBLE_EQ(worst_of_two(Interval{}, 0.0), 0.25);
}

// Found by fuzzing: values so close together, next to one far away, that no temperature tells them
// apart within the rounds that the kernel has.
TEST(Reference, KlOfValuesThatDifferByLessThanTheirRounding) {
  testing::SetRow row;
  row.probability = {0.2719522338403042, 0.036721720532319396, 0.2963105988593156,
                     0.15338640684410648, 0.2416290399239544};
  row.radius = 1.3021288396398352;
  row.lanes = 1;
  for (const double value : {2.4e-86, 0.0, 37712253.6, 2.2e-60, -3.1e-52})
    row.values.emplace_back(padded_lanes(1), value);
  Scratch scratch;
  for (const InstructionSet instructions : instruction_sets())
    EXPECT_NEAR(testing::solve(worst_case_kernel(KL{}, instructions), row, scratch).worst[0], 0,
                1e-9 * 37712253.6)
        << name(instructions);
}

// Found by fuzzing: next to an outcome that is far below all others and next to impossible, the
// likely values and what the probabilities lack of one are lost in rounding. The reference put all
// mass on the one outcome, which nature cannot afford.
TEST(Reference, Chi2OfAnOutcomeThatIsFarAwayAndNextToImpossible) {
  std::mt19937_64 random(1);
  Scratch scratch;
  for (int n = 0; n < 1000; ++n) {
    SetRow row = testing::plain_row(random, 3 + testing::pick(random, 18), 1e-8, 1);
    row.probability[0] = 2e-268;
    const double sum = std::accumulate(row.probability.begin(), row.probability.end(), 0.0);
    for (double& p : row.probability) p /= sum;
    for (auto& outcome : row.values) outcome[0] = 5e-33 * testing::uniform(random);
    row.values[0][0] = -1e12;
    ASSERT_NEAR(static_cast<double>(reference_worst_case(Chi2{}, row, 0)), 0, 1e-6) << n;
    ASSERT_NEAR(solve(worst_case_kernel(Chi2{}), row, scratch).worst[0], 0, 1e-2) << n;
  }
}

}  // namespace
}  // namespace redoubt
