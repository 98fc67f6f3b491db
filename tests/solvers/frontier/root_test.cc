#include "solvers/frontier/search/root.h"

#include <gtest/gtest.h>

#include <random>

namespace redoubt {
using namespace internal;
namespace {

Start at(State state) { return {{state}, {1.0}}; }

// A place whose set is the hull of some points, known exactly in every direction.
TradeOffs hull(const Directions& directions, const std::vector<std::vector<double>>& points) {
  TradeOffs table(directions, 1);
  for (int k = 0; k < directions.size(); ++k) {
    double most = -1e300;
    for (const std::vector<double>& point : points) {
      double along = 0;
      for (int j = 0; j < directions.signals(); ++j) along += directions.weight(k, j) * point[j];
      if (along <= most) continue;
      most = along;
      for (int j = 0; j < directions.signals(); ++j) table.points(0, j)[k] = point[j];
    }
    table.bounds(0)[k] = most;
  }
  return table;
}

TEST(Root, MixesTwoPointsThatMeetTheConstraintTogether) {
  const std::vector<double> scales = {10, 1};
  const TradeOffs table = hull(Directions::of_prices({0, 10, 100}), {{10, 0}, {0, 1}});
  const Root root = solve_root(table, at(0), {0.25}, scales);
  EXPECT_TRUE(root.reachable);
  EXPECT_FALSE(root.beyond_reach);
  EXPECT_NEAR(root.value, 7.5, 1e-9);
  EXPECT_NEAR(root.bound, 7.5, 1e-9);  // price 10 is listed
  EXPECT_NEAR(root.prices[0], 10, 1e-9);
}

TEST(Root, BoundsWithoutTheRightPriceAreTooHighNotTooLow) {
  const std::vector<double> scales = {10, 1};
  const Root root =
      solve_root(hull(Directions::of_prices({0, 5, 40}), {{10, 0}, {0, 1}}), at(0), {0.25}, scales);
  EXPECT_NEAR(root.value, 7.5, 1e-9);
  EXPECT_NEAR(root.bound, 8.75, 1e-9);  // at price 5: max(10, 5) - 5 * 0.25
}

TEST(Root, AConstraintOutOfReachIsProved) {
  const std::vector<double> scales = {10, 1};
  const Root root =
      solve_root(hull(Directions::of_prices({0, 1}), {{10, 0}, {0, 1}}), at(0), {1.5}, scales);
  EXPECT_FALSE(root.reachable);
  EXPECT_TRUE(root.beyond_reach);
}

TEST(Root, TakesTheMeanOverTheStart) {
  const Directions directions = Directions::of_prices({0, 1});
  TradeOffs table(directions, 2);
  for (int k = 0; k < directions.size(); ++k) {
    table.bounds(0)[k] = 1, table.bounds(1)[k] = 3;
    table.points(0, 0)[k] = 2, table.points(1, 0)[k] = 6;
  }
  const TradeOffs mean = at_start(table, {{0, 1}, {0.75, 0.25}});
  EXPECT_DOUBLE_EQ(mean.bounds(0)[0], 1.5);
  EXPECT_DOUBLE_EQ(mean.points(0, 0)[0], 3);
}

// Weak duality, and what the mixture guarantees: for one and for several constraints.
TEST(Root, TheMixtureKeepsEveryConstraintAndTheBoundIsNotBelowIt) {
  int reachable = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    const int constraints = 1 + static_cast<int>(seed % 3);
    std::vector<std::vector<double>> points(6, std::vector<double>(constraints + 1));
    for (auto& point : points) {
      for (double& entry : point) entry = uniform(random);
    }
    std::vector<double> weights;
    for (int k = 0; k < 30; ++k) {
      weights.push_back(k % 5 ? 1 : 0);
      for (int c = 0; c < constraints; ++c) weights.push_back(4 * uniform(random));
    }
    const std::vector<double> required(constraints, 0.5), scales(constraints + 1, 1.0);
    const TradeOffs table = hull(Directions(constraints, weights), points);
    const Root root = solve_root(table, at(0), required, scales);
    if (!root.reachable) continue;
    EXPECT_GE(root.bound, root.value - 1e-9);
    ++reachable;
    for (int j = 0; j <= constraints; ++j) {
      double total = 0;
      for (const MemoryMove& move : root.mixture)
        total += move.weight * table.points(0, j)[move.memory];
      EXPECT_GE(total, (j == 0 ? root.value : 0.5) - 1e-9);
    }
  }
  EXPECT_GT(reachable, 50);
}

}  // namespace
}  // namespace redoubt
