#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/error.h"
#include "redoubt/worst_case.h"
#include "support/set_reference.h"

namespace redoubt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<double> kCoin = {0.5, 0.5};
const std::vector<double> kZeroOne = {0, 1};

std::string error_of(const Uncertainty& set, const SingleRow& row, std::span<const double> values) {
  try {
    worst_case(set, row, values);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool lands_outside(const Uncertainty& set) {
  const TV* tv = std::get_if<TV>(&set);
  return tv != nullptr && tv->reach == Reach::anywhere;
}

TEST(OneRow, GivesTheValueAndTheDistribution) {
  const auto result = worst_case(TV{0.2}, {.probability = kCoin}, kZeroOne, true);
  EXPECT_DOUBLE_EQ(result.value[0], 0.3);
  EXPECT_DOUBLE_EQ(result.distribution[0], 0.7);
  EXPECT_DOUBLE_EQ(result.distribution[1], 0.3);
}

// For one vector, the number alone: for a row that is short, and for one that is not.
TEST(OneRow, IsANumberForOneVector) {
  std::mt19937_64 random(3);
  for (const int outcomes : {2, 5, 32, 33, 70}) {
    std::vector<double> p(outcomes, 1.0 / outcomes), v(outcomes);
    for (double& value : v) value = testing::uniform(random);
    for (const Uncertainty& set :
         {Uncertainty{Nominal{}}, Uncertainty{TV{0.2}}, Uncertainty{Chi2{0.3}},
          Uncertainty{KL{0.1}}, Uncertainty{Tilt{0.5}}})
      EXPECT_EQ(worst_case(set, p, v), worst_case(set, {.probability = p}, v).value.front());
  }
  const auto error_of_number = [](const Uncertainty& set, const std::vector<double>& p,
                                  const std::vector<double>& v) -> std::string {
    try {
      worst_case(set, p, v);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of_number(KL{0.1}, kCoin, {1, 2, 3}), "3 values for 2 outcomes, must be as many");
  EXPECT_EQ(error_of_number(KL{0.1}, kCoin, {}), "0 values for 2 outcomes, must be as many");
  EXPECT_EQ(error_of_number(KL{-0.1}, kCoin, {0, 1}),
            error_of(KL{-0.1}, {.probability = kCoin}, kZeroOne));
  EXPECT_EQ(error_of_number(KL{0.1}, {}, {0, 1}), error_of(KL{0.1}, {}, kZeroOne));
  EXPECT_EQ(error_of_number(Interval{}, kCoin, {0, 1}), error_of(Interval{}, {}, kZeroOne));
}

TEST(OneRow, GivesNoDistributionUnlessAsked) {
  EXPECT_TRUE(worst_case(TV{0.2}, {.probability = kCoin}, kZeroOne).distribution.empty());
}

TEST(OneRow, ReachesOutcomesOfProbabilityZeroOnlyWithTvAnywhere) {
  const std::vector<double> p = {0.5, 0.0, 0.5}, v = {0, -1, 1};
  EXPECT_DOUBLE_EQ(worst_case(TV{0.2, Reach::support}, {.probability = p}, v).value[0], 0.3);
  EXPECT_DOUBLE_EQ(worst_case(Chi2{1.0}, {.probability = p}, v).value[0], 0.0);
  const auto anywhere = worst_case(TV{0.2, Reach::anywhere}, {.probability = p}, v, true);
  EXPECT_DOUBLE_EQ(anywhere.value[0], 0.1);
  EXPECT_THAT(anywhere.distribution, ElementsAre(0.5, 0.2, ::testing::DoubleEq(0.3)));
}

TEST(OneRow, SolvesABatchLikeSingleVectors) {
  std::mt19937_64 random(1);
  const std::vector<double> p = {0.1, 0.2, 0.3, 0.4};
  std::vector<double> values(4 * 150);  // more than two of the batches it is solved in
  for (double& v : values) v = testing::uniform(random);
  const auto batch = worst_case(KL{0.1}, {.probability = p}, values, true);
  ASSERT_EQ(batch.value.size(), 150u);
  for (int n = 0; n < 150; ++n) {
    const auto one =
        worst_case(KL{0.1}, {.probability = p}, std::span(values).subspan(4 * n, 4), true);
    EXPECT_EQ(batch.value[n], one.value[0]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(batch.distribution[4 * n + i], one.distribution[i]);
  }
}

// Short rows that are right take another way than rows with zeros, long ones, and those that must
// be divided by their sum, and than calls that ask for the distribution. It is as exact, and short
// rows have the same bits either way.
TEST(OneRow, IsWorthTheSameHoweverItIsAsked) {
  std::mt19937_64 random(2);
  for (const Uncertainty& set :
       {Uncertainty{Nominal{}}, Uncertainty{TV{0.2}}, Uncertainty{TV{0.2, Reach::support}},
        Uncertainty{Chi2{0.2}}, Uncertainty{KL{0.2}}, Uncertainty{Tilt{0.5}}}) {
    for (const int outcomes : {1, 2, 7, 8, 9, 31, 32, 33, 70}) {
      std::vector<double> p(outcomes), v(outcomes);
      double sum = 0;
      for (double& mass : p) sum += mass = 0.1 + testing::uniform(random);
      for (double& mass : p) mass /= sum;
      for (double& value : v) value = testing::uniform(random);
      const double asked = worst_case(set, {.probability = p}, v).value[0];
      EXPECT_EQ(asked, worst_case(set, {.probability = p}, v, true).value[0]) << outcomes;
      if (lands_outside(set)) continue;
      p.insert(p.begin() + outcomes / 2, 0.0);
      v.insert(v.begin() + outcomes / 2, -1.0);
      EXPECT_NEAR(asked, worst_case(set, {.probability = p}, v).value[0], 1e-14) << outcomes;
      for (double& mass : p) mass *= 1 - 1e-12;
      EXPECT_NEAR(asked, worst_case(set, {.probability = p}, v).value[0], 1e-11) << outcomes;
    }
  }
}

// A row that is all but deterministic, whose least value is below the likely one by a rounding
// error: the worst case is the likely value, not an infinity.
TEST(OneRow, IsFiniteWhereValuesDifferByRounding) {
  const std::vector<double> p = {0x1p-294, 1.0, 0x1.a53a0ab6f1429p-84, 0x1.714c89cd03c5ep-93};
  const std::vector<double> v = {7.8493886418947163, 3.8531398932258298, 3.8531398932258289,
                                 15.07135894831168};
  for (const double radius : {0.001, 0.05, 0.5}) {
    EXPECT_NEAR(worst_case(KL{radius}, {.probability = p}, v).value[0], 3.8531398932258294, 1e-14);
  }
}

TEST(OneRow, TakesIntervalBounds) {
  const std::vector<double> lower = {0.1, 0.2, 0.0}, upper = {0.5, 0.6, 1.0}, v = {1, 2, 3};
  const auto result = worst_case(Interval{}, {.lower = lower, .upper = upper}, v, true);
  EXPECT_DOUBLE_EQ(result.value[0], 0.5 * 1 + 0.5 * 2);
  EXPECT_THAT(result.distribution,
              ElementsAre(0.5, ::testing::DoubleEq(0.5), ::testing::DoubleNear(0, 1e-16)));
}

TEST(OneRow, TakesNoVectorsAtAll) {
  EXPECT_TRUE(worst_case(KL{0.1}, {.probability = kCoin}, {}).value.empty());
}

TEST(OneRow, NamesWhatIsWrong) {
  const auto with = [](std::vector<double> p) {
    return error_of(KL{0.1}, {.probability = p}, kZeroOne);
  };
  EXPECT_THAT(with({-0.1, 1.1}), HasSubstr("probability[0] = -0.1, must be in [0, 1]"));
  EXPECT_THAT(with({NAN, 1}), HasSubstr("probability[0] = nan"));
  EXPECT_THAT(with({0.5, INFINITY}), HasSubstr("probability[1] = inf"));
  EXPECT_THAT(with({0.5, 0.48}), HasSubstr("probabilities sum to 0.98, must sum to 1"));
  EXPECT_THAT(with({}), HasSubstr("without outcomes"));
  EXPECT_THAT(with({0.2, 0.3, 0.5}), HasSubstr("2 values for 3 outcomes, must be a multiple"));

  const SingleRow coin{.probability = kCoin};
  EXPECT_THAT(error_of(KL{-1.0}, coin, kZeroOne), HasSubstr("radius = -1, must be at least 0"));
  EXPECT_THAT(error_of(TV{NAN}, coin, kZeroOne), HasSubstr("radius = nan"));
  EXPECT_THAT(error_of(Chi2{std::vector<double>{1, 2}}, coin, kZeroOne),
              HasSubstr("2 radii for one row"));
  EXPECT_THAT(error_of(Tilt{0}, coin, kZeroOne), HasSubstr("temperature = 0, must be positive"));
  EXPECT_THAT(error_of(KL{0.1}, coin, std::vector<double>{0, INFINITY}),
              HasSubstr("values[1] = inf, must be finite"));

  const std::vector<double> half = {0.4, 0.4}, one = {1, 1}, tenth = {0.1, 0.1};
  EXPECT_THAT(error_of(Interval{}, {.lower = half, .upper = tenth}, kZeroOne),
              HasSubstr("bounds of outcome 0 = [0.4, 0.1], must satisfy 0 <= lower <= upper <= 1"));
  EXPECT_THAT(error_of(Interval{}, {.lower = tenth, .upper = half}, kZeroOne),
              HasSubstr("bounds sum to [0.2, 0.8], must contain 1"));
  EXPECT_THAT(error_of(Interval{}, {.lower = tenth}, kZeroOne),
              HasSubstr("2 lower and 0 upper bounds"));
}

}  // namespace
}  // namespace redoubt
