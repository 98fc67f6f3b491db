#include "solvers/value_iteration/alike_rows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "bellman/nominal_rows.h"
#include "numerics/isa.h"
#include "redoubt/solve.h"
#include "sets/worst_case.h"
#include "support/set_rows.h"

namespace redoubt {
namespace {

using namespace internal;

// States of many shapes, terminal ones among them; every fourth row is the one before.
Model mixed_shapes(State states, int most_rows, int most_outcomes, std::mt19937_64& random) {
  ModelBuilder builder(states, {});
  for (State s = 0; s < states; ++s) {
    const int rows = static_cast<int>(random() % (most_rows + 1));
    ModelBuilder::RowData row;
    for (int action = 0; action < rows; ++action) {
      if (action == 0 || random() % 4 != 0) {
        row = {.reward = testing::uniform(random)};
        const int outcomes = 1 + static_cast<int>(random() % most_outcomes);
        for (int i = 0; i < outcomes; ++i)
          row.outcomes.push_back({.next = (s + 7 * i) % states, .probability = 1.0 / outcomes});
      }
      builder.add(0, s, action, row);
    }
  }
  return builder.build();
}

TEST(AlikeRows, TheBestOfCopiedRowsIsTheBestToTheBit) {
  std::mt19937_64 random(3);
  const Model model = mixed_shapes(3 * AlikeStates::kMost - 11, 5, 5, random);
  std::vector<State> states(model.states());
  std::iota(states.rbegin(), states.rend(), 0);  // the last state first
  std::vector<double> values(model.states());
  for (double& value : values) value = testing::uniform(random);
  const SparseRows matrix = nominal_rows(model);
  for (const InstructionSet instructions : instruction_sets()) {
    const AlikeRows::Kernels kernels{best_alike_kernel(instructions),
                                     best_expected_kernel(instructions)};
    for (const bool least : {false, true}) {
      const RowsOfStates of{model.arrays().state_rows.data(), model.arrays().reward.data(), 0.9, 1,
                            least};
      const AlikeRows rows(model, of, states);
      EXPECT_GT(rows.others(), 0);
      EXPECT_LT(rows.others(), model.states());
      std::vector<double> room(8), best(states.size()), expected(states.size());
      std::vector<std::int32_t> position(states.size()), expected_position(states.size());
      const bool exact =
          kernels.any(matrix, of, {.count = model.states(), .list = states.data()}, {},
                      values.data(), room.data(), expected.data(), expected_position.data());
      bool found_exact = true;
      for (std::int64_t block = 0; block < rows.blocks(); ++block)
        found_exact &= rows.best(block, kernels, matrix, of, values.data(), room.data(),
                                 best.data() + block * AlikeStates::kMost,
                                 position.data() + block * AlikeStates::kMost);
      EXPECT_EQ(best, expected);
      EXPECT_EQ(position, expected_position);
      EXPECT_EQ(found_exact, exact);
    }
  }
}

// A horizon that is long enough for copies, against a plain loop.
TEST(AlikeRows, ALongHorizonIsWorthWhatAPlainLoopSays) {
  std::mt19937_64 random(4);
  const Model model = mixed_shapes(600, 2, 4, random);
  constexpr int kHorizon = 60;
  std::vector<double> values(model.states(), 0.0), next;
  for (int stage = 0; stage < kHorizon; ++stage) {
    next = values;
    for (State s = 0; s < model.states(); ++s) {
      values[s] = 0;
      for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
        double worth = model.value(-1, row);
        for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
          worth += model.arrays().probability[i] * next[model.arrays().next[i]];
        values[s] = row == model.row_begin(0, s) ? worth : std::max(values[s], worth);
      }
    }
  }
  for (const State start : {0, 299, 598}) {
    const Problem problem(model, {.horizon = kHorizon, .start = Start(start)});
    const double one = nominal(problem, {}, {.threads = 1}).reward.worst;
    EXPECT_NEAR(one, values[start], 1e-12 * kHorizon);
    EXPECT_EQ(one, nominal(problem, {}, {.threads = 2}).reward.worst);
  }
}

}  // namespace
}  // namespace redoubt
