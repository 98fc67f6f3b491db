#include "evaluation/small_chain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/nature_iteration.h"
#include "evaluation/stage_evaluation.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"
#include "support/on_ranks.h"
#include "support/random.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

// States along a line, from each of which two actions lead to its neighbours and to itself. The
// last one, if `ends`, is terminal.
Problem line(State states, double discount, const Uncertainty& set, bool ends) {
  testing::Random random(states);
  ModelBuilder builder(states, {});
  for (State s = 0; s < states - (ends ? 1 : 0); ++s) {
    for (int action = 0; action < 2; ++action) {
      const double back = 0.2 + 0.2 * random.uniform();
      const double on = 0.2 + 0.2 * random.uniform();
      ModelBuilder::RowData row;
      row.reward = random.uniform() - 0.4;
      const auto add = [&](State next, double p) {
        row.outcomes.push_back(
            {.next = next, .probability = p, .lower = 0.9 * p, .upper = std::min(1.0, 1.1 * p)});
      };
      if (s > 0) add(s - 1, back);
      add(s, 1 - (s > 0 ? back : 0) - (s + 1 < states ? on : 0));
      if (s + 1 < states) add(s + 1, on);
      builder.add(0, s, action, std::move(row));
    }
  }
  return Problem(builder.build(), {.discount = discount, .uncertainty = set});
}

TakenRows first_rows(const Problem& problem) {
  std::vector<std::int32_t> actions;
  for (State s = 0; s < problem.model().states(); ++s)
    actions.push_back(problem.model().row_begin(0, s) < problem.model().row_end(0, s) ? 0 : -1);
  TakenRows taken;
  take_rows(problem.model(), actions, taken);
  return taken;
}

// The chain of a line is a tridiagonal system: solved in long double by forward elimination.
std::vector<long double> values_of_line(const Problem& problem, const Chain& chain) {
  const State states = problem.model().states();
  std::vector<long double> up(states), value(states);
  for (State s = 0; s < states; ++s) {
    long double down = 0, here = 1, on = 0;
    for (auto k = chain.begin[s]; k < chain.begin[s + 1]; ++k) {
      const long double p = static_cast<long double>(problem.discount()) * chain.probability[k];
      (chain.next[k] < s ? down : chain.next[k] > s ? on : here) += chain.next[k] == s ? -p : p;
    }
    if (s > 0) here -= down * up[s - 1];
    up[s] = on / here;
    value[s] = (chain.earned[s] + (s > 0 ? down * value[s - 1] : 0)) / here;
  }
  for (State s = states - 1; s-- > 0;) value[s] += up[s] * value[s + 1];
  return value;
}

TEST(SmallChain, IsSolvedAfterManySteps) {
  Workers workers(1);
  for (const double discount : {0.99, 0.9999, 0.999999}) {
    for (const bool ends : {false, true}) {
      const Problem problem = line(500, discount, Nominal{}, ends);
      Chain chain;
      find_nominal_chain(problem.model(), Channel{}, first_rows(problem), chain);
      SmallChain small(problem, workers.ranks());
      std::vector<double> values(500, 0.0);
      EXPECT_FALSE(small.solve_after(199, chain, values));
      ASSERT_TRUE(small.solve_after(200, chain, values));
      const std::vector<long double> expected = values_of_line(problem, chain);
      long double most = 0;
      for (const long double value : expected) most = std::max(most, std::abs(value));
      for (State s = 0; s < 500; ++s)
        EXPECT_NEAR(values[s], static_cast<double>(expected[s]),
                    2e-16 / (1 - discount) * static_cast<double>(most));
      EXPECT_TRUE(small.solve_after(16, chain, values));  // once it has been of use
      EXPECT_FALSE(small.solve_after(200, chain, values));
    }
  }
}

// Where every state leads anywhere, elimination takes too long, twice, and never again. There is
// none without a discount, and none of a large model.
TEST(SmallChain, IsLeftAloneWhereItIsNoUse) {
  Workers workers(1);
  testing::RandomOptions options;
  options.states = 3000;
  options.successors = 8;
  options.horizon.reset();
  options.discount = 0.9;
  options.uncertainty = Nominal{};
  const Problem anywhere = testing::random_problem(1, options);
  Chain chain;
  find_nominal_chain(anywhere.model(), Channel{}, first_rows(anywhere), chain);
  std::vector<double> values(3000, 7.0);
  SmallChain small(anywhere, workers.ranks());
  for (const std::int64_t steps : {200, 2000, 200, 2000, 16})
    EXPECT_FALSE(small.solve_after(steps, chain, values));
  EXPECT_EQ(values, std::vector<double>(3000, 7.0));
  const Problem large = line(SmallChain::kMostStates + 1, 0.9, Nominal{}, false);
  SmallChain never(large, workers.ranks());
  EXPECT_FALSE(never.solve_after(200, chain, values));
}

// Answers keep their bits when every rank eliminates what all of them have.
TEST(SmallChain, SameBitsOnRanks) {
  for (const Uncertainty& set : {Uncertainty{Nominal{}}, Uncertainty{KL{0.05}},
                                 Uncertainty{TV{0.1, Reach::support}}, Uncertainty{Interval{}}}) {
    const Problem problem = line(150, 0.999, set, true);
    testing::expect_same_on_ranks(
        problem, [](const Problem& p, const Execution& e) { return robust(p, {}, e); });
    testing::expect_same_evaluation(problem, robust(problem).policy);
    const Problem shorter = line(40, 0.999, set, true);
    testing::expect_same_evaluation(shorter, testing::random_table_policy(7, shorter));
  }
}

// With memory, too: what elimination finds stays as it is in one more step along the chain.
TEST(SmallChain, IsThatOfNodesWithMemory) {
  const Problem problem = line(100, 0.9999, KL{0.05}, true);
  const Policy policy = testing::random_table_policy(3, problem);
  const std::vector<Channel> channels = {Channel{}, {.signal = -1, .sign = -1}};
  Workers workers(1);
  StageEvaluation nodes(problem, policy, channels, workers);
  const int stage = static_cast<int>(policy.stages.size()) - 1;
  KeptNature kept(nodes, problem, policy, stage, channels);
  std::vector<double> values(nodes.nodes(stage) * channels.size(), 0.0), after;
  nodes.run(
      stage, values, after, [](State) {}, &kept);
  kept.add_up_earned();
  SmallChain small(problem, workers.ranks(), nodes.nodes(stage));
  EXPECT_FALSE(kept.solve_after(199, workers.ranks(), small, values));
  ASSERT_TRUE(kept.solve_after(200, workers.ranks(), small, values));
  for (const Residual& found : kept.step(workers, nodes.exchange(), values, after)) {
    const double size = std::max(std::abs(found.least), std::abs(found.most));
    EXPECT_GT(size, 1);
    EXPECT_LE(found.high, 1e-14 * size);
    EXPECT_GE(found.low, -1e-14 * size);
  }
}

// A policy whose memory says nothing is worth what it is without memory.
TEST(SmallChain, MemoryThatSaysNothingChangesNothing) {
  for (const Uncertainty& set : {Uncertainty{Nominal{}}, Uncertainty{Chi2{0.1}}}) {
    const Problem problem = line(200, 0.9999, set, false);
    const Policy plain = robust(problem).policy;
    const Policy same = testing::with_idle_memory(problem, plain, {{{{1, 1.0}}, {{0, 1.0}}}});
    const double worst = evaluate(problem, plain).reward.worst;
    EXPECT_NEAR(evaluate(problem, same).reward.worst, worst, 1e-10 * std::abs(worst));
  }
}

// Two values, x = 1 + .9 x = 10 and y = .45 (x + y) = 90 / 11. Where nature's kept answers are not
// numbers, plain sweeps find them.
class TwoValues {
 public:
  double x = 0, y = 0;
  int steps_kept = 0;

  std::vector<Residual> step(double kept) {
    const double next_x = kept + 0.9 * x, next_y = kept * 0.45 * (x + y);
    Residual residual;
    residual.add(x, next_x);
    residual.add(y, next_y);
    x = next_x;
    y = next_y;
    return {residual};
  }
  NatureSweeps sweeps(double robust, double kept) {
    return {.robust = [this, robust](bool) { return step(robust); },
            .shift = [this](std::span<const double> by) { x += by[0], y += by[0]; },
            .reset = [this] { x = y = 0; },
            .kept =
                [this, kept] {
                  ++steps_kept;
                  return step(kept);
                }};
  }
};
const Width kNarrow = [](int, double) { return 1e-12; };

TEST(NatureIteration, DoesWithoutAnswersThatAreNotNumbers) {
  Workers workers(1);
  TwoValues plain;
  const auto found = iterate_nature(plain.sweeps(1, std::nan("")), 0.9, kNarrow, workers);
  EXPECT_EQ(plain.steps_kept, 1);
  EXPECT_NEAR(plain.x + found[0].middle(), 10, 1e-11);
  EXPECT_NEAR(plain.y + found[0].middle(), 90.0 / 11, 1e-11);
  TwoValues nowhere;  // sweeps over all that nature may do are the last resort
  const auto none =
      iterate_nature(nowhere.sweeps(std::nan(""), std::nan("")), 0.9, kNarrow, workers);
  EXPECT_EQ(none[0].width(), Residual::kNone);
}

TEST(NatureIteration, StepsEndWhereKeptAnswersCanBeSolvedFor) {
  Workers workers(1);
  TwoValues values;
  NatureSweeps sweeps = values.sweeps(1, 1);
  sweeps.solve = [&](std::int64_t steps) {
    if (steps < 2) return false;
    values.x = 10, values.y = 90.0 / 11;
    return true;
  };
  iterate_nature(sweeps, 0.9, kNarrow, workers);
  EXPECT_EQ(values.steps_kept, 2);
  EXPECT_NEAR(values.y, 90.0 / 11, 1e-12);
}

}  // namespace
}  // namespace redoubt
