#include "solvers/frontier/search/gap_attribution.h"

#include <gtest/gtest.h>

#include "solvers/frontier/search/extremes.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

// One pass over all stages with a few fixed prices, as the search makes it.
struct Pass {
  const Problem& problem;
  Workers workers{1};
  Exchange exchange{problem.model(), one_process()};
  Landings landings{problem, one_process()};
  std::vector<Channel> channels = channels_of(problem);
  StateBackup backup{problem, channels, landings};
  std::vector<FrontierStage> stages;
  Root root;
  std::vector<double> scales;

  Pass(const Problem& p, const std::vector<double>& prices, double tolerance) : problem(p) {
    const State states = problem.model().states();
    const int horizon = problem.horizon();
    stages.resize(horizon + 1);
    for (int h = horizon; h >= 0; --h) {
      FrontierStage& here = stages[h];
      const Directions directions =
          Directions::of_prices(h == horizon ? std::vector<double>{0.0} : prices);
      here.table = TradeOffs(directions, std::int64_t{states} + landings.anywhere());
      here.recipes.resize(states);
      here.causes.resize(states);
      if (h < horizon) {
        const auto ahead =
            lay_out_next_stage(stages[h + 1].table, stages[h + 1].curves, directions);
        const std::vector<double> allowed(directions.size(), tolerance);
        StageWarmStarts own, later;
        forget(own, states);
        forget(later, states);
        for (State s = 0; s < states; ++s) {
          backup.run(h, s, stages[h + 1], here,
                     {.tolerance = allowed,
                      .rounds = 200,
                      .last = h + 1 == horizon,
                      .ahead = &ahead,
                      .warm_starts = &own,
                      .later_warm_starts = &later});
        }
      }
      complete_stage(landings, here, workers);
    }
    scales.assign(2, static_cast<double>(horizon));
    const double required = -problem.constraints()[0].bound;  // at_most
    root = solve_root(stages[0].table, problem.start(), {required}, scales);
  }

  GapAttribution gaps() {
    AnsweredPass pass{problem, landings, {}, problem.horizon(), root, scales};
    for (const FrontierStage& stage : stages) pass.stages.push_back(&stage);
    return attribute_gap(pass, 0.0, backup, exchange, workers);
  }

  // In the direction of the root.
  double open() {
    const std::vector<double> q = {1, root.prices[0]};
    const TradeOffs mean = at_start(stages[0].table, problem.start());
    int near = 0, corner = 0;
    const Directions::Pair pair = mean.directions().split(q[0], q[1], near);
    const double outer =
        pair.low_weight * mean.bounds(0)[pair.low] + pair.high_weight * mean.bounds(0)[pair.high];
    return outer - best_inside(stages[0], problem.start().states[0], q.data(), corner);
  }
};

double sum_of_intervals(const GapAttribution& gaps) {
  double sum = 0;
  for (const auto& stage : gaps.intervals) {
    for (const auto& interval : stage) sum += interval.loss;
  }
  return sum;
}

TEST(GapAttribution, FindsWhereTheGapAtTheStartComesFrom) {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Problem problem = testing::random_problem(seed, {.horizon = 4});
    Pass pass(problem, {0, 0.5, 2, 8}, 1e-6);
    const GapAttribution gaps = pass.gaps();
    EXPECT_GE(sum_of_intervals(gaps), gaps.between_prices - 1e-9);  // the larger of two looks
    EXPECT_GE(gaps.games, 0);
    // Nothing is missing.
    EXPECT_GE(gaps.between_prices + gaps.games, 0.99 * pass.open() - 1e-6) << "seed " << seed;
    open += pass.open() > 1e-3;
  }
  EXPECT_GT(open, 3);  // coarse prices leave something to find
}

TEST(GapAttribution, FinerPricesLeaveLess) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Problem problem = testing::random_problem(seed, {.horizon = 4});
    std::vector<double> fine;
    for (double price = 0; price < 8; price += 0.05) fine.push_back(price);
    const double coarse = Pass(problem, {0, 0.5, 2, 8}, 1e-6).gaps().between_prices;
    EXPECT_LE(Pass(problem, fine, 1e-6).gaps().between_prices, 0.25 * coarse + 1e-6);
  }
}

TEST(GapAttribution, VisitsBeginWithTheDirectionOfTheAnswer) {
  const Problem problem = testing::random_problem(3, {.horizon = 4});
  Pass pass(problem, {0, 0.5, 2, 8}, 1e-6);
  const GapAttribution gaps = pass.gaps();
  double visits = 0;
  for (const double visit : gaps.visits[0]) visits += visit;
  EXPECT_GT(visits, 0);
  const int size = pass.stages[0].table.directions().size();
  for (State s = 0; s < problem.model().states(); ++s) {
    for (int k = 0; k < size && s != problem.start().states[0]; ++k)
      EXPECT_EQ(gaps.visits[0][s * size + k], 0) << "nobody begins in state " << s;
  }
}

}  // namespace
}  // namespace redoubt
