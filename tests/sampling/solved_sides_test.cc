#include "sampling/solved_sides.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "redoubt/environments.h"
#include "redoubt/frontier.h"
#include "sampling/counted.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using namespace internal;

Problem small_problem(std::uint64_t seed) {
  const std::vector<Uncertainty> sets = {Nominal{}, TV{0.1, Reach::support}, TV{0.1}, Chi2{0.1},
                                         KL{0.05}};
  testing::RandomOptions options;
  options.states = 4, options.actions = 2, options.horizon = 3;
  options.successors = 2 + static_cast<int>(seed % 2);
  options.uncertainty = sets[seed % sets.size()];
  options.constraints = 1;
  return testing::random_problem(seed, testing::shaped(options, seed % 4 * 4));
}

// Against `frontier` on both problems: bounds without a search are bounds, a gap that is said to be
// wide is wide, and nothing is infeasible then.
TEST(SolvedSides, KnowWithoutASearchWhatASearchWouldConfirm) {
  const FrontierOptions fine{.tolerance = 1e-3};
  int wide = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Problem problem = small_problem(seed);
    const testing::Counted counted(problem, seed % 3 == 0 ? 40 : 400);
    const KnownRows known(counted.counts, 6);
    SolvedSides sides(known, problem.terms(), problem.terms(), {});
    const Solution low = frontier(sides.problem(), fine);
    const Solution high = frontier(sides.upper().problem, fine);
    if (high.status != Status::infeasible) {
      EXPECT_GE(*sides.bound().reward.bound, high.reward.worst - 1e-9);
    }
    for (const double gap : {0.02, 0.1, 0.5, 2.0}) {
      if (!sides.open() || !sides.is_wider_than(gap, {})) continue;
      ++wide;
      EXPECT_NE(high.status, Status::infeasible);
      const bool kept = low.status == Status::certified || low.status == Status::feasible;
      if (kept) {
        EXPECT_GT(*high.reward.bound - low.reward.worst, gap);
      }
    }
    sides.search(fine, {});
    EXPECT_EQ(sides.bound().status == Status::infeasible, high.status == Status::infeasible);
    if (high.status != Status::infeasible) {
      EXPECT_NEAR(*sides.bound().reward.bound, *high.reward.bound, 1e-3);
    }
    if (low.status == Status::certified) {
      EXPECT_NEAR(sides.policy().reward.worst, low.reward.worst, 1e-3);
    }
  }
  EXPECT_GT(wide, 10);
}

TEST(KnownRows, LookAgainAtRowsThatHaveMoreSamples) {
  const Problem problem = small_problem(3);
  testing::Counted counted(problem, 50);
  KnownRows known(counted.counts, 6);
  const auto first = known.intervals;
  const auto& outcome = counted.simulator->shape().outcomes[0][0];
  counted.counts.add(
      0, {outcome.next, outcome.values[0], {outcome.values.begin() + 1, outcome.values.end()}},
      1000);
  known.update();
  const KnownRows anew(counted.counts, 6);
  for (std::size_t row = 0; row < first.size(); ++row) {
    for (std::size_t i = 0; i < first[row].size(); ++i) {
      EXPECT_EQ(known.intervals[row][i].low, anew.intervals[row][i].low);
      EXPECT_EQ(known.intervals[row][i].high, anew.intervals[row][i].high);
    }
  }
  EXPECT_NE(known.intervals[0][0].high, first[0][0].high);
}

}  // namespace
}  // namespace redoubt
