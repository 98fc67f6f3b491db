#include <gtest/gtest.h>

#include <algorithm>

#include "redoubt/advanced/ranks.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

TEST(PartTest, BlocksCoverAllStatesWithEqualWork) {
  testing::RandomOptions options;
  options.states = 200;
  options.ragged = true;
  const Model model = testing::random_problem(1, options).model();
  const auto blocks = balanced_blocks(model, 4);
  ASSERT_EQ(blocks.size(), 5U);
  EXPECT_EQ(blocks.front(), 0);
  EXPECT_EQ(blocks.back(), 200);
  for (int r = 0; r < 4; ++r) {
    const auto outcomes = model.outcome_begin(model.row_begin(0, blocks[r + 1] - 1)) -
                          model.outcome_begin(model.row_begin(0, blocks[r]));
    EXPECT_NEAR(static_cast<double>(outcomes), model.outcomes() / 4.0, 20);
  }
}

TEST(PartTest, PartsHaveEveryRowOnceAndKeepTheirOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    testing::RandomOptions options = testing::random_options(seed);
    options.states += 8;
    const Problem whole = testing::random_problem(seed, options);
    const auto blocks = balanced_blocks(whole.model(), 3);
    Row rows = 0;
    for (int r = 0; r < 3; ++r) {
      const Problem part = subproblem(whole, blocks, r);
      const Model& model = part.model();
      rows += model.rows();
      EXPECT_EQ(model.own_states(), blocks[r + 1] - blocks[r]);
      EXPECT_EQ(model.all_states(), whole.model().states());
      EXPECT_EQ(model.actions(), whole.model().actions());
      for (State own = 0; own < model.own_states(); ++own) {
        const State s = model.own(own);
        const State there = model.arrays().submodel->number[s];
        EXPECT_EQ(model.state_name(s), whole.model().state_name(there));
        for (int h = 0; h < model.stages(); ++h) {
          const Row here = model.row_begin(h, s), same = whole.model().row_begin(h, there);
          ASSERT_EQ(model.row_end(h, s) - here, whole.model().row_end(h, there) - same);
          if (here == model.row_end(h, s)) continue;
          const auto i = model.outcome_begin(here), j = whole.model().outcome_begin(same);
          EXPECT_EQ(model.arrays().probability[i], whole.model().arrays().probability[j]);
          EXPECT_EQ(model.arrays().submodel->number[model.arrays().next[i]],
                    whole.model().arrays().next[j]);
          EXPECT_EQ(model.value(-1, here), whole.model().value(-1, same));
        }
      }
      for (const Label& label : model.arrays().labels) {
        const std::vector<State>& there = whole.model().find_label(label.name)->states;
        for (State s = 0; s < model.states(); ++s)
          EXPECT_EQ(
              std::binary_search(label.states.begin(), label.states.end(), s),
              std::binary_search(there.begin(), there.end(), model.arrays().submodel->number[s]));
      }
      for (std::size_t i = 0; i < part.start().states.size(); ++i)
        EXPECT_EQ(model.arrays().submodel->number[part.start().states[i]], whole.start().states[i]);
    }
    EXPECT_EQ(rows, whole.model().rows());
  }
}

}  // namespace
}  // namespace redoubt
