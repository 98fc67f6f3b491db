#include "evaluation/lanes_by_action.h"

#include <gtest/gtest.h>

namespace redoubt {
using namespace internal;
namespace {

template <class Value>
std::vector<Value> list(std::span<const Value> values) {
  return {values.begin(), values.end()};
}

// Two states; the second has nodes 2..5, whose choices are listed.
Policy::Stage listed() {
  Policy::Stage stage;
  stage.node_begin = {0, 2, 6};
  stage.choice_begin = {0, 1, 2, 4, 5, 7, 8};
  stage.choice_action = {0, 0, 2, 0, 2, 0, 1, 2};
  stage.choice_weight = {1, 1, 0.25, 0.75, 1, 1, 0, 1};
  return stage;
}

TEST(LanesByAction, AreThoseThatTakeAnActionInTheirOrder) {
  LanesByAction taken;
  taken.collect(listed(), 2, {0, 4}, 3);
  EXPECT_EQ(list(taken.lanes(0)), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(list(taken.weight(0)), (std::vector<double>{0.75, 1}));
  EXPECT_EQ(list(taken.choice(0)), (std::vector<std::int64_t>{3, 5}));
  EXPECT_TRUE(taken.empty(1)) << "listed, but never taken";
  EXPECT_EQ(list(taken.lanes(2)), (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(list(taken.choice(2)), (std::vector<std::int64_t>{2, 4, 7}));
}

TEST(LanesByAction, AreCollectedAnewForEveryRange) {
  LanesByAction taken;
  taken.collect(listed(), 2, {0, 4}, 3);
  taken.collect(listed(), 2, {1, 2}, 3);
  EXPECT_EQ(list(taken.lanes(0)), (std::vector<std::int32_t>{2})) << "counted from the first node";
  EXPECT_EQ(list(taken.lanes(2)), (std::vector<std::int32_t>{1}));
  taken.collect(listed(), 2, {0, 0}, 1);
  EXPECT_TRUE(taken.empty(0));
}

// Budgets have decisions for every state, also where there is nothing to decide.
TEST(LanesByAction, AreNoneInTerminalStates) {
  Policy::Stage stage;
  stage.memory = 2;
  stage.mixed.edit().resize(4);
  LanesByAction taken;
  taken.collect(stage, 2, {0, 2}, 1);
  EXPECT_EQ(list(taken.lanes(0)), (std::vector<std::int32_t>{0, 1}));
  taken.collect(stage, 2, {0, 2}, 0);
}

}  // namespace
}  // namespace redoubt
