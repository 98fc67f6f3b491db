#include "redoubt/shared_array.h"

#include <gtest/gtest.h>

#include "redoubt/environments.h"
#include "redoubt/solve.h"

namespace redoubt {
namespace {

TEST(SharedArray, CopiesShareUntilOneIsChanged) {
  SharedArray<int> one(std::vector{1, 2, 3});
  SharedArray<int> two = one;
  EXPECT_EQ(one.data(), two.data());
  two.edit()[1] = 5;
  EXPECT_NE(one.data(), two.data());
  EXPECT_EQ(one[1], 2);
  EXPECT_EQ(two[1], 5);
  EXPECT_FALSE(one == two);
  const int* own = two.data();
  two.edit()[1] = 2;  // nobody shares it now
  EXPECT_EQ(two.data(), own);
  EXPECT_TRUE(one == two);
}

TEST(SharedArray, MayBeEmpty) {
  SharedArray<int> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_TRUE(none == SharedArray<int>(std::vector<int>{}));
  none.edit().push_back(7);
  EXPECT_EQ(none.size(), 1);
}

// Far from the end of a horizon the best actions are the same at every stage.
TEST(SharedArray, StagesThatDecideAlikeShareTheirDecisions) {
  const Policy policy = robust(make("river_swim(horizon=200,start=3)")).policy;
  ASSERT_EQ(policy.stages.size(), 200);
  EXPECT_EQ(policy.stages[0].mixed.data(), policy.stages[50].mixed.data());
  EXPECT_NE(policy.stages[0].mixed.data(), policy.stages[199].mixed.data());
  for (int h = 0; h + 1 < 200; ++h)
    EXPECT_EQ(policy.stages[h] == policy.stages[h + 1],
              policy.stages[h].mixed.data() == policy.stages[h + 1].mixed.data());
}

}  // namespace
}  // namespace redoubt
