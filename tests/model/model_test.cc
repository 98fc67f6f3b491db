#include "redoubt/model.h"

#include <gtest/gtest.h>

#include "support/random_problem.h"

namespace redoubt {
namespace {

TEST(Model, RandomModelsAreTheSameForTheSameSeed) {
  EXPECT_EQ(testing::random_model(7), testing::random_model(7));
  EXPECT_FALSE(testing::random_model(7) == testing::random_model(8));
}

}  // namespace
}  // namespace redoubt
