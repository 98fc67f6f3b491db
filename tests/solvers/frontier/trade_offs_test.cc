#include "solvers/frontier/sets/trade_offs.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace redoubt {
using namespace internal;
namespace {

struct Points {
  std::vector<double> reward, utility;
};

Points random_points(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Points points;
  for (unsigned n = 1 + random() % 9; n > 0; --n) {
    const bool tie = !points.reward.empty() && random() % 4 == 0;
    points.reward.push_back(tie ? points.reward.back() : uniform(random));
    points.utility.push_back(uniform(random));
  }
  return points;
}

// The most reward of any mixture of two points that has this utility, by trying all pairs.
double best_of_pairs(const Points& points, double utility) {
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points.reward.size(); ++i) {
    if (points.utility[i] >= utility) best = std::max(best, points.reward[i]);
    for (std::size_t j = 0; j < points.reward.size(); ++j) {
      if (!(points.utility[i] < utility && points.utility[j] > utility)) continue;
      const double share = (utility - points.utility[i]) / (points.utility[j] - points.utility[i]);
      best = std::max(best, points.reward[i] + share * (points.reward[j] - points.reward[i]));
    }
  }
  return best;
}

TEST(Curve, IsTheBestMixtureForEveryUtility) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Points points = random_points(seed);
    const Curve curve = curve_of(points.reward, points.utility);
    for (std::size_t n = 1; n < curve.price.size(); ++n)
      EXPECT_LE(curve.price[n - 1], curve.price[n]);
    for (double utility = -1.2; utility < curve.utility.back(); utility += 0.05) {
      std::vector<MemoryMove> moves;
      mix_for_utility(curve, utility, moves);
      double reward = 0, kept = 0, weight = 0;
      for (const MemoryMove& move : moves) {
        reward += move.weight * points.reward[move.memory];
        kept += move.weight * points.utility[move.memory];
        weight += move.weight;
      }
      EXPECT_NEAR(weight, 1, 1e-12);
      EXPECT_GE(kept, utility - 1e-12);
      EXPECT_NEAR(reward, best_of_pairs(points, utility), 1e-12);
    }
  }
}

TEST(Curve, GivesTheMostUtilityWhereMoreIsAskedFor) {
  const Curve curve = curve_of(std::vector<double>{1, 0}, std::vector<double>{0, 1});
  std::vector<MemoryMove> moves;
  mix_for_utility(curve, 2, moves);
  EXPECT_EQ(moves, (std::vector<MemoryMove>{{1, 1.0}}));
}

TEST(Curve, AMixAlongItIsTheSameUpToItsRounding) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const Points points = random_points(seed);
    const Curve curve = curve_of(points.reward, points.utility);
    int near = 0;
    for (double utility = curve.utility.front(); utility <= curve.utility.back(); utility += 0.07) {
      const CurveMix mix = mix_along(curve, utility, near);
      EXPECT_NEAR(average(mix, curve.utility), utility, 1e-6);
      EXPECT_NEAR(average(mix, curve.reward), best_of_pairs(points, utility), 2e-6);
    }
  }
}

TEST(TradeOffs, UndominatedPointsAreThoseThatNoOtherMatches) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    const Directions directions(2, {1, 1, 0, 1, 0, 1, 1, 1, 1});
    TradeOffs table(directions, 1);
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < directions.size(); ++k)
        table.points(0, j)[k] = static_cast<double>(random() % 3);  // many ties
    }
    const auto at_least = [&](int a, int b) {
      bool all = true;
      for (int j = 0; j < 3; ++j) all = all && table.points(0, j)[a] >= table.points(0, j)[b];
      return all;
    };
    const std::vector<std::int32_t> kept = undominated(table, 0);
    for (int k = 0; k < directions.size(); ++k) {
      const bool is_kept = std::find(kept.begin(), kept.end(), k) != kept.end();
      bool matched = false, beaten = false;
      for (const std::int32_t other : kept) matched |= at_least(other, k);
      for (int other = 0; other < directions.size(); ++other)
        beaten |= at_least(other, k) && !at_least(k, other);
      EXPECT_TRUE(matched);  // what is left out is not missed
      EXPECT_FALSE(is_kept && beaten);
    }
  }
}

}  // namespace
}  // namespace redoubt
