#include "solvers/frontier/search/refine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using Lists = std::vector<std::vector<std::vector<double>>>;  // [stage][list]

GapAttribution losses(const std::vector<double>& loss, const std::vector<double>& price) {
  GapAttribution gaps;
  gaps.intervals = {{{}}};
  for (std::size_t n = 0; n < loss.size(); ++n) {
    gaps.intervals[0][0].push_back({loss[n], loss[n] * price[n]});
    gaps.between_prices += loss[n];
  }
  return gaps;
}

TEST(AddPrices, AddsOneWhereTheLossIsAndNowhereElse) {
  Lists prices = {{{0, 1, 4}}};
  add_prices(losses({0, 1, 0}, {0, 2.5, 0}), 1e-3, 10, prices);
  EXPECT_EQ(prices[0][0], (std::vector<double>{0, 1, 2.5, 4}));
}

TEST(AddPrices, AddsNoneWhereNothingIsLostOrNoRoomIsLeft) {
  Lists prices = {{{0, 1, 4}}};
  add_prices(losses({0, 0, 0}, {0, 0, 0}), 1e-3, 10, prices);
  EXPECT_EQ(prices[0][0], (std::vector<double>{0, 1, 4}));
  add_prices(losses({0, 1, 0}, {0, 2.5, 0}), 1e-3, 3, prices);
  EXPECT_EQ(prices[0][0], (std::vector<double>{0, 1, 4}));
}

TEST(AddPrices, BeyondTheLastPriceGoesWhereItIsAskedFor) {
  Lists prices = {{{0, 1}}};
  add_prices(losses({0, 1}, {0, 7}), 1e-3, 10, prices);
  EXPECT_EQ(prices[0][0], (std::vector<double>{0, 1, 7}));
}

TEST(FirstPrices, AscendFromZero) {
  for (const std::size_t constraints : {1, 2, 3}) {
    const std::vector<double> prices = first_prices(constraints);
    EXPECT_EQ(prices.front(), 0);
    EXPECT_TRUE(std::is_sorted(prices.begin(), prices.end()));
    EXPECT_LE(most_prices(constraints, 1000), 1000);
  }
  EXPECT_LT(most_prices(3, 1000), most_prices(2, 1000));  // their combinations are directions
}

// One state has a loss between the second and the third price, all others none.
struct OneLoss {
  Problem problem = testing::random_problem(1);
  std::vector<StagePlan> before;
  GapAttribution gaps;

  OneLoss() {
    const auto states = static_cast<std::size_t>(problem.model().states());
    const Directions directions({{0, 1, 2, 4}});
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
  const std::vector<double>& prices = grid.directions.prices(0);
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
    return one.refined(target, most).directions.prices(0).size();
  };
  EXPECT_LE(prices(0.1, 100), prices(0.01, 100));
  EXPECT_LT(prices(0.5, 100), prices(0.01, 100));
  EXPECT_LE(prices(1e-9, 6), 6u);
}

}  // namespace
}  // namespace redoubt
