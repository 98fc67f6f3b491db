#include "solvers/frontier/sets/directions.h"

#include <gtest/gtest.h>

namespace redoubt {
using namespace internal;
namespace {

std::vector<double> direction_of(const Directions& directions, int k) {
  return {directions.weights_of(k), directions.weights_of(k) + directions.signals()};
}

TEST(Directions, AreOrderedByTheirLeadsAndThoseOfOneSignalAreThere) {
  const Directions directions(2, {0, 4, 2, 2, 1, 1, 1, 0.5, 0.5, 0, 0, 3});
  EXPECT_EQ(directions.size(), 2 + 2 + 1);  // one is repeated, one cares for one signal alone
  EXPECT_EQ(directions.rays_begin(), 2);
  EXPECT_EQ(direction_of(directions, 0), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(direction_of(directions, 1), (std::vector<double>{1, 0.5, 0.5}));
  EXPECT_EQ(direction_of(directions, directions.alone(1)), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(direction_of(directions, 3), (std::vector<double>{0, 1, 0.5}));
  EXPECT_EQ(direction_of(directions, directions.alone(2)), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(directions.lead(1), 0);
  EXPECT_EQ(directions.lead(3), 1);
}

TEST(Directions, AreTheSameWhenMadeOfTheirWeights) {
  const Directions directions(2, {0, 4, 2, 2, 1, 3});
  EXPECT_EQ(directions, Directions(2, directions.weights()));
  for (int k = 0; k < directions.size(); ++k)
    EXPECT_EQ(directions.find(directions.weights_of(k)), k);
  const std::vector<double> other = {1, 1, 1};
  EXPECT_EQ(directions.find(other.data()), -1);
}

TEST(Directions, OneConstraintSplitsIntoTheTwoNeighbours) {
  const Directions directions = Directions::of_prices({0, 1, 3});
  int near = 0;
  const auto between = directions.split(2.0, 4.0, near);  // price 2
  EXPECT_EQ(between.low, 1);
  EXPECT_EQ(between.high, 2);
  EXPECT_DOUBLE_EQ(between.low_weight, 1);
  EXPECT_DOUBLE_EQ(between.high_weight, 1);
  const auto beyond = directions.split(1.0, 5.0, near);  // above the last price: the ray
  EXPECT_EQ(beyond.low, 2);
  EXPECT_EQ(beyond.high, directions.alone(1));
  EXPECT_DOUBLE_EQ(beyond.high_weight, 2);
  const auto ray = directions.split(0.0, 1.0, near);
  EXPECT_DOUBLE_EQ(ray.low_weight, 0);
  EXPECT_DOUBLE_EQ(ray.high_weight, 1);
}

}  // namespace
}  // namespace redoubt
