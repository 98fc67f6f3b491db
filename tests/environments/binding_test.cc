#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "redoubt/environments.h"
#include "support/markov_reference.h"

// A bound binds when some policy keeps it in the worst case but the policy that only looks at the
// worst-case reward does not.
namespace redoubt::testing {
namespace {

class Binding : public ::testing::TestWithParam<std::string> {};

TEST_P(Binding, BoundIsFeasibleAndNotSlack) {
  const Problem problem = make(GetParam());
  const Constraint& constraint = problem.constraints()[0];
  const double best = best_value(problem, 0).value;
  const double greedy = worst_value(problem, 0, best_value(problem, -1).policy);
  // At least a twentieth of the range away from either end, so that it is not a matter of rounding.
  const double margin = std::abs(best - greedy) / 20;
  const double sign = constraint.sense == Sense::at_most ? 1 : -1;
  EXPECT_LT(sign * best + margin, sign * constraint.bound) << best << " " << greedy;
  EXPECT_GT(sign * greedy - margin, sign * constraint.bound) << best << " " << greedy;
}

// Every environment as it comes, and the presets that the documentation names.
std::vector<std::string> ids() {
  std::vector<std::string> result = {"river_swim(horizon=10)", "river_swim(discount=.99,bound=42)",
                                     "garnet(states=30,actions=4,successors=3)"};
  for (const EnvironmentInfo& info : environments()) result.push_back(info.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Environments, Binding, ::testing::ValuesIn(ids()));

}  // namespace
}  // namespace redoubt::testing
