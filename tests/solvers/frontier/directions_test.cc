#include "solvers/frontier/sets/directions.h"

#include <gtest/gtest.h>

#include <random>

namespace redoubt {
using namespace internal;
namespace {

Directions random_directions(int constraints, std::mt19937& random) {
  std::uniform_real_distribution<double> step(0.1, 2);
  Directions::Prices prices(Directions::lists(constraints), {0.0});
  for (std::vector<double>& list : prices) {
    for (unsigned n = random() % 4; n > 0; --n) list.push_back(list.back() + step(random));
  }
  return Directions(prices);
}

std::vector<double> direction_of(const Directions& directions, int k) {
  std::vector<double> weights;
  for (int j = 0; j < directions.signals(); ++j) weights.push_back(directions.weight(k, j));
  return weights;
}

TEST(Directions, EveryLeadHasAllCombinationsOfItsPrices) {
  // The reward leads: 2 x 3 prices. The first utility leads: 2. The second one: its ray.
  const Directions directions({{0, 1}, {0, 1, 2}, {0, 5}});
  EXPECT_EQ(directions.size(), 2 * 3 + 2 + 1);
  EXPECT_EQ(directions.rays_begin(), 6);
  EXPECT_EQ(direction_of(directions, directions.ray(0)), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(direction_of(directions, directions.ray(1)), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(directions.lead(0), 0);
  EXPECT_EQ(directions.lead(6), 1);
  EXPECT_EQ(directions.lead(8), 2);
}

// A bound in any direction stands on this: the support function is sublinear.
TEST(Directions, ASplitIsASumOfListedDirectionsWithWeightsThatAreNotNegative) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> weight(0, 4);
    const int constraints = 1 + static_cast<int>(seed % 3);
    const Directions directions = random_directions(constraints, random);
    std::vector<double> q(constraints + 1);
    for (double& entry : q) entry = random() % 5 == 0 ? 0.0 : weight(random);
    Directions::Parts parts;
    directions.split(q.data(), parts);
    std::vector<double> sum(q.size());
    for (int c = 0; c < parts.count; ++c) {
      EXPECT_GE(parts.weight[c], 0);
      for (std::size_t j = 0; j < q.size(); ++j)
        sum[j] += parts.weight[c] * directions.weight(parts.direction[c], static_cast<int>(j));
    }
    for (std::size_t j = 0; j < q.size(); ++j) EXPECT_NEAR(sum[j], q[j], 1e-12);
  }
}

TEST(Directions, AListedDirectionIsItsOwnSplit) {
  std::mt19937 random(3);
  const Directions directions = random_directions(3, random);
  for (int k = 0; k < directions.size(); ++k) {
    Directions::Parts parts;
    directions.split(direction_of(directions, k).data(), parts);
    double elsewhere = 0, here = 0;
    for (int c = 0; c < parts.count; ++c)
      (parts.direction[c] == k ? here : elsewhere) += parts.weight[c];
    EXPECT_NEAR(here, 1, 1e-12);
    EXPECT_NEAR(elsewhere, 0, 1e-12);
  }
}

TEST(Directions, OneConstraintSplitsIntoTheTwoNeighbours) {
  const Directions directions({{0, 1, 3}});
  int near = 0;
  const auto between = directions.split(2.0, 4.0, near);  // price 2
  EXPECT_EQ(between.low, 1);
  EXPECT_EQ(between.high, 2);
  EXPECT_DOUBLE_EQ(between.low_weight, 1);
  EXPECT_DOUBLE_EQ(between.high_weight, 1);
  const auto beyond = directions.split(1.0, 5.0, near);  // above the last price: the ray
  EXPECT_EQ(beyond.low, 2);
  EXPECT_EQ(beyond.high, directions.ray(0));
  EXPECT_DOUBLE_EQ(beyond.high_weight, 2);
  const auto ray = directions.split(0.0, 1.0, near);
  EXPECT_DOUBLE_EQ(ray.low_weight, 0);
  EXPECT_DOUBLE_EQ(ray.high_weight, 1);
}

}  // namespace
}  // namespace redoubt
