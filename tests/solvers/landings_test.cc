#include "solvers/frontier/sets/landings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "redoubt/advanced/ranks.h"
#include "solvers/frontier/search/stage.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

// The bounds of a landing between those of two directions, by trying all pairs of them.
std::vector<double> mixed_in_pairs(std::vector<double> bounds, const Directions& directions) {
  const std::vector<double>& price = directions.prices();
  const int ray = directions.rays_begin();
  const std::vector<double> least = bounds;
  for (int k = 1; k < ray; ++k) {
    for (int low = 0; low < k; ++low) {
      for (int high = k + 1; high <= ray; ++high) {
        const double rise = price[k] - price[low];
        const double share = high == ray ? rise : rise / (price[high] - price[low]);
        const double mixed = (high == ray ? 1 : 1 - share) * least[low] + share * least[high];
        bounds[k] = std::min(bounds[k], mixed);
      }
    }
  }
  return bounds;
}

// Also where prices lie so close that rounding decides which way bounds go between them.
TEST(Landings, BoundsAreTheLowestMixtures) {
  testing::RandomOptions options;
  options.uncertainty = TV{0.2};
  const Problem problem = testing::random_problem(3, options);
  const State states = problem.model().states();
  Landings landings(problem, one_process());
  Workers workers(1, one_process());
  ASSERT_TRUE(landings.anywhere());
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<double> prices = {0};
    for (int n = 0; n < 12; ++n) {
      prices.push_back(prices.back() + uniform(random));
      if (seed % 2) prices.push_back(prices.back() * (1 + 2e-13));
    }
    FrontierStage stage;
    stage.table = TradeOffs(Directions::of_prices(prices), std::int64_t{states} + 1);
    const int size = stage.table.directions().size();
    for (State s = 0; s < states; ++s) {
      double slope = -2;
      for (int k = 0; k < size; ++k) {
        const double across = k > 0 && k + 1 < size ? prices[k] - prices[k - 1] : 1.0;
        slope += 0.3 * uniform(random);
        const double before = k > 0 ? stage.table.bounds(s)[k - 1] : 5 * uniform(random);
        stage.table.bounds(s)[k] = k + 1 < size ? before + slope * across : slope;
        stage.table.points(s, 0)[k] = -10;
        stage.table.points(s, 1)[k] = -10;
      }
    }
    complete_stage(landings, stage, workers);
    std::vector<double> least;
    for (int k = 0; k < size; ++k) least.push_back(stage.landings.least[k].bound);
    const std::vector<double> expected = mixed_in_pairs(least, stage.table.directions());
    for (int k = 0; k < size; ++k)
      EXPECT_NEAR(stage.table.bounds(states)[k], expected[k], 1e-9)
          << "seed " << seed << ", direction " << k;
  }
}

}  // namespace
}  // namespace redoubt
