#include "policy/stage_builder.h"

#include <gtest/gtest.h>

namespace redoubt {
using namespace internal;
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(StageBuilder, WritesDecisionsNodeByNode) {
  StageBuilder build;
  build.choose(1, 0.25);
  build.choose(0, 0.75);
  build.end_node();
  build.end_node();  // a terminal state decides nothing
  build.choose(2, 1.0);
  build.end_node();
  const Policy::Stage stage = build.take();
  EXPECT_EQ(stage.choice_begin, (Numbers{0, 2, 2, 3}));
  EXPECT_EQ(stage.choice_action, (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(stage.choice_weight, (std::vector<double>{0.25, 0.75, 1}));
  Policy::Stage decisions;  // and nothing else
  decisions.choice_begin = stage.choice_begin;
  decisions.choice_action = stage.choice_action;
  decisions.choice_weight = stage.choice_weight;
  EXPECT_EQ(stage, decisions);
}

TEST(StageBuilder, CountsNodesOutcomesAndLandings) {
  StageBuilder build({.nodes_by_state = true, .moves_by_table = true, .landing_plans = true});
  build.reserve(2, 2, 3, 3);
  build.choose(0, 1.0);
  build.move({0, 0.5});
  build.move({1, 0.5});
  build.end_outcome();
  build.end_outcome();  // one that is never met
  build.end_node();
  build.choose(1, 1.0);
  build.move({2, 1.0});
  build.end_outcome();
  build.end_node();
  build.end_state();
  build.end_state();  // one without memory states
  build.end_landing();
  build.land({3, 1.0});
  build.end_landing();
  const Policy::Stage stage = build.take();
  EXPECT_EQ(stage.node_begin, (Numbers{0, 2, 2}));
  EXPECT_EQ(stage.outcome_slot, (Numbers{0, 2}));
  EXPECT_EQ(stage.move_begin, (Numbers{0, 2, 2, 3}));
  EXPECT_EQ(stage.moves, (std::vector<MemoryMove>{{0, 0.5}, {1, 0.5}, {2, 1.0}}));
  EXPECT_EQ(stage.landing_begin, (Numbers{0, 0, 1}));
  EXPECT_EQ(stage.landing_moves, (std::vector<MemoryMove>{{3, 1.0}}));
}

TEST(StageBuilder, OffsetsBeginAtZeroWithoutAnyNode) {
  const Policy::Stage stage = StageBuilder({true, true, true}).take();
  for (const Numbers& list :
       {stage.node_begin, stage.choice_begin, stage.move_begin, stage.landing_begin})
    EXPECT_EQ(list, Numbers{0});
}

}  // namespace
}  // namespace redoubt
