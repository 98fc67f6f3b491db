#include "solvers/frontier/search/refine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

GapAttribution losses(const std::vector<double>& loss, const std::vector<double>& price) {
  GapAttribution gaps;
  gaps.intervals = {{}};
  for (std::size_t n = 0; n < loss.size(); ++n) {
    gaps.intervals[0].push_back({loss[n], loss[n] * price[n]});
    gaps.between_prices += loss[n];
  }
  return gaps;
}

TEST(FirstPrices, AscendFromZero) {
  const std::vector<double> prices = first_prices();
  EXPECT_EQ(prices.front(), 0);
  EXPECT_TRUE(std::is_sorted(prices.begin(), prices.end()));
}

// One state has a loss between the second and the third price, all others none.
struct OneLoss {
  Problem problem = testing::random_problem(1);
  std::vector<StagePlan> before;
  GapAttribution gaps;

  OneLoss() {
    const auto states = static_cast<std::size_t>(problem.model().states());
    const Directions directions = Directions::of_prices({0, 1, 2, 4});
    const auto size = static_cast<std::size_t>(directions.size());
    before = {{directions, std::vector<double>(states * size, 0.1)}};
    gaps = losses({0, 1, 0, 0}, {0, 1.5, 0, 0});
    gaps.state_loss = {std::vector<double>(states * (size - 1), 0.0)};
    gaps.state_loss[0][2 * (size - 1) + 1] = 1;  // of state 2
    gaps.visits = {std::vector<double>(states * size, 1.0)};
  }
  PriceGrid refined(double target, int most) {
    Workers workers(1);
    return refine_grids(gaps, target, most, before, problem.model(), workers).front();
  }
};

TEST(RefineGrids, KeepsTheOldPricesAndCutsTheIntervalOfTheLoss) {
  OneLoss one;
  const PriceGrid grid = one.refined(0.02, 100);
  const std::vector<double>& prices = grid.directions.prices();
  EXPECT_TRUE(grid.finer);
  EXPECT_TRUE(std::is_sorted(prices.begin(), prices.end()));
  for (const double old : {0, 1, 2, 4})
    EXPECT_TRUE(std::find(prices.begin(), prices.end(), old) != prices.end());
  EXPECT_GT(prices.size(), 4u);
  for (const double price : prices)
    EXPECT_TRUE((price >= 1 && price <= 2) || price == 0 || price == 4);
}

TEST(RefineGrids, OnlyTheStateWithTheLossLooksAtMore) {
  OneLoss one;
  const PriceGrid grid = one.refined(0.02, 100);
  const int size = grid.directions.size();
  std::vector<int> looks(one.problem.model().states());
  double visits = 0;
  for (State s = 0; s < one.problem.model().states(); ++s) {
    for (int k = 0; k < size; ++k) looks[s] += grid.looks_at[s * size + k];
    for (int k = 0; s == 2 && k < size; ++k) visits += grid.visits[s * size + k];
  }
  for (State s = 0; s < one.problem.model().states(); ++s) {
    const int least = s == 2 ? 6 : 5;  // four prices and the ray
    EXPECT_GE(looks[s], least);
    EXPECT_LE(looks[s], s == 2 ? 100 : 5);
  }
  EXPECT_NEAR(visits, 5, 1e-12);  // what was followed is spread, not lost
}

TEST(RefineGrids, ACloserTargetAsksForMoreWithinTheLimit) {
  OneLoss one;
  const auto prices = [&](double target, int most) {
    return one.refined(target, most).directions.prices().size();
  };
  EXPECT_LE(prices(0.1, 100), prices(0.01, 100));
  EXPECT_LT(prices(0.5, 100), prices(0.01, 100));
  EXPECT_LE(prices(1e-9, 6), 6u);
}

TEST(DirectionsAround, HaveEachPriceUpAndDownAndLeaveSignalsOut) {
  const Directions directions = directions_around({2, 3}, {std::log(2), std::log(10)});
  const auto lists = [&](std::vector<double> weights) { return directions.find(weights.data()); };
  for (const auto& weights : std::vector<std::vector<double>>{
           {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 2, 3}, {1, 2, 0}, {1, 0, 3}, {0, 1, 1.5}})
    EXPECT_GE(lists(weights), 0);
  EXPECT_EQ(directions.size(), 7 + 6);
}

// Two constraints. State 2 loses near the direction of the reward alone, where (1, .2, .2) comes
// to.
struct OneWish {
  Problem problem = testing::random_problem(1);
  std::vector<StagePlan> before;
  GapAttribution gaps;
  std::size_t size = 0;

  OneWish() {
    const auto states = static_cast<std::size_t>(problem.model().states());
    const Directions directions(2, {1, 1, 1});
    size = static_cast<std::size_t>(directions.size());
    before = {{directions, std::vector<double>(states * size, 0.1)}};
    gaps.near = {std::vector<GapAttribution::Near>(states * size * 3)};
    gaps.visits = {std::vector<double>(states * size, 1.0)};
    wish(2, 0.2);
  }
  void wish(std::size_t state, double price) {
    gaps.near[0][state * size * 3 + 1] = {1, 0.5, {1, price, price}};
  }
  PriceGrid refined(double least, int most) {
    Workers workers(1);
    return add_directions(gaps, least, most, before, problem, std::vector<double>{1, 1, 1}, workers)
        .front();
  }
};

TEST(AddDirections, OnlyTheStateWithTheLossLooksThere) {
  OneWish one;
  const PriceGrid grid = one.refined(0.1, 100);
  const std::vector<double> asked = {1, 0.2, 0.2};
  const int added = grid.directions.find(asked.data()), size = grid.directions.size();
  EXPECT_TRUE(grid.finer);
  EXPECT_EQ(size, static_cast<int>(one.size) + 1);
  ASSERT_GE(added, 0);
  const bool starts = one.problem.start().states.front() == 2;
  for (State s = 0; s < one.problem.model().states(); ++s) {
    if (!starts) {
      EXPECT_EQ(grid.looks_at[s * size + added], s == 2 ? 1 : 0);
    }
    double visits = 0;
    for (int k = 0; k < size; ++k) visits += grid.visits[s * size + k];
    EXPECT_NEAR(visits, static_cast<double>(one.size), 1e-12);  // spread, not lost
  }
}

TEST(AddDirections, StatesShareWhatIsCloseForThem) {
  OneWish one;
  one.wish(1, 0.21);
  EXPECT_EQ(one.refined(0.1, 100).directions.size(), static_cast<int>(one.size) + 1);
  one.wish(1, 0.5);
  EXPECT_EQ(one.refined(0.1, 100).directions.size(), static_cast<int>(one.size) + 2);
}

TEST(AddDirections, NothingIsAddedWithoutALossOrWithoutRoom) {
  OneWish one;
  EXPECT_FALSE(one.refined(2, 100).finer);
  EXPECT_FALSE(one.refined(0.1, static_cast<int>(one.size)).finer);
}

}  // namespace
}  // namespace redoubt
