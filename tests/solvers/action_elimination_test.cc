#include <gtest/gtest.h>

#include "evaluation/taken_rows.h"
#include "redoubt/environments.h"
#include "solvers/value_iteration/best_rows.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using namespace internal;
using testing::RandomOptions;

// Steps that look at every row.
class AllRows {
 public:
  AllRows(const Problem& problem, Channel channel, bool least, Workers& workers)
      : exchange_(problem.model(), workers.ranks()),
        rows_(problem, channel, workers, exchange_, least) {}
  void step(const std::vector<double>& next) { rows_.step(0, next, values, actions); }
  bool exact() const { return rows_.exact(); }

  std::vector<double> values;
  std::vector<std::int32_t> actions;

 private:
  Exchange exchange_;
  BestRows rows_;
};

// Many steps with action elimination beside steps without: the share of states that the last ten
// still looked at.
double expect_same_steps(const Problem& problem, Channel channel, bool least, int steps,
                         int threads = 1) {
  Workers workers(threads);
  Exchange exchange(problem.model(), workers.ranks());
  BestRows rows(problem, channel, workers, exchange, least);
  AllRows all(problem, channel, least, workers);
  std::vector<double> next(problem.model().states(), 0.0), values;
  std::vector<std::int32_t> actions;
  Residual last;
  double looked_at = 0;
  for (int step = 0; step < steps; ++step) {
    const std::vector<std::int32_t> before = actions;
    all.step(next);
    last = rows.step(steps - 1 - step, next, values, actions, step > 0 ? &last : nullptr);
    EXPECT_EQ(values, all.values) << "step " << step;
    EXPECT_EQ(actions, all.actions) << "step " << step;
    State differ = 0;
    for (std::size_t s = 0; s < before.size(); ++s) differ += before[s] != actions[s];
    if (step > 0) {
      EXPECT_EQ(rows.new_actions(), differ);
    }
    if (step >= steps - 10) looked_at += rows.looked_at();
    next = values;
  }
  EXPECT_EQ(rows.exact(), all.exact());
  return looked_at / (10 * problem.model().states());
}

TEST(ActionElimination, ChangesNoBit) {
  for (const Uncertainty& set : testing::kEverySet) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      SCOPED_TRACE(name(set));
      SCOPED_TRACE(seed);
      RandomOptions o;
      o.states = 12;
      o.uncertainty = set;
      o.discount = seed % 3 == 0 ? 0.9 : 1;
      o.outcome_values = seed % 2 == 0;
      o.ragged = o.terminal = o.row_radii = seed % 4 > 1;
      const Problem problem = testing::random_problem(seed, o);
      for (const Channel channel : {Channel{}, Channel{0, -1}}) {
        for (const bool least : {false, true}) expect_same_steps(problem, channel, least, 25);
      }
    }
  }
}

// A state is looked at no more once the others cannot catch up: nearly all are settled soon in a
// model that mixes, for every set but tilt, which promises nothing.
TEST(ActionElimination, LeavesFewStates) {
  for (const Uncertainty& set : testing::kEverySet) {
    RandomOptions o;
    o.states = 500;
    o.successors = 5;
    o.uncertainty = set;
    const Problem problem = testing::random_problem(7, o);
    const double share = expect_same_steps(problem, {}, false, 40);
    if (std::holds_alternative<Tilt>(set)) {
      EXPECT_EQ(share, 1) << name(set);
    } else {
      EXPECT_LT(share, 0.1) << name(set);
    }
  }
}

TEST(ActionElimination, TiesAreLookedAtForEver) {
  const Problem problem = make("grid(size=6,horizon=60,set=none)");  // no reward but at the goal
  EXPECT_GT(expect_same_steps(problem, reward_channel(problem), false, 40), 0.5);
}

TEST(ActionElimination, DoesNotDependOnThreads) {
  const Problem problem =
      make("garnet(states=6000,actions=4,successors=5,horizon=40,seed=1,set=none)");
  EXPECT_LT(expect_same_steps(problem, reward_channel(problem), false, 40, 2), 0.1);
}

// Values of any kind may come between two steps that tell how far they are from the last.
TEST(ActionElimination, FollowsAnyChange) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomOptions o;
    o.states = 40;
    o.horizon = std::nullopt;
    o.discount = 0.95;
    o.uncertainty = TV{0.05};
    const Problem problem = testing::random_problem(seed, o);
    Workers workers(1);
    Exchange exchange(problem.model(), workers.ranks());
    BestRows rows(problem, {}, workers, exchange, false);
    AllRows all(problem, {}, false, workers);
    std::vector<double> next(problem.model().states(), 0.0), values, last;
    std::vector<std::int32_t> actions;
    double looked_at = 0;
    for (int step = 0; step < 30; ++step) {
      Residual change;
      change.add(last.data(), next.data(), static_cast<std::int64_t>(last.size()));
      rows.step(0, next, values, actions, last.empty() ? nullptr : &change);
      all.step(next);
      EXPECT_EQ(values, all.values) << "seed " << seed << ", step " << step;
      EXPECT_EQ(actions, all.actions) << "seed " << seed << ", step " << step;
      looked_at += rows.looked_at();
      last = next;
      for (std::size_t s = 0; s < next.size(); ++s)
        next[s] += 3 + 0.01 * std::sin(static_cast<double>(s * 7 + step * step));
    }
    EXPECT_LT(looked_at, 0.9 * 30 * problem.model().states());
  }
}

}  // namespace
}  // namespace redoubt
