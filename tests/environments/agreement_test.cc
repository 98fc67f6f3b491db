#include <gtest/gtest.h>

#include <string>

#include "redoubt/environments.h"
#include "redoubt/solve.h"
#include "support/markov_reference.h"

// The solvers agree with the slow reference on every environment.
namespace redoubt::testing {
namespace {

class Agreement : public ::testing::TestWithParam<std::string> {};

TEST_P(Agreement, BestRewardAndBestConstraintValue) {
  const Problem problem = make(GetParam());
  EXPECT_NEAR(robust(problem).reward.worst, best_value(problem, -1).value, 1e-7);
  EXPECT_NEAR(achievable_range(problem, 0).best, best_value(problem, 0).value, 1e-7);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const EnvironmentInfo& info : environments()) {
    result.push_back(info.name);
    result.push_back(info.name + "(set=tv,radius=.1,reach=anywhere)");
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Environments, Agreement, ::testing::ValuesIn(names()));

}  // namespace
}  // namespace redoubt::testing
