#include "redoubt/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "redoubt/environments.h"
#include "redoubt/gradient.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"

namespace redoubt {
namespace {

Contestant crpo_with(double step) {
  const GradientOptions options{.step = step, .iterations = 200};
  return {"crpo, step " + std::to_string(step),
          [options](const Problem& p, const Execution& e) { return crpo(p, options, e); }, true};
}

Contestant by_rcvi() {
  return {"rcvi", [](const Problem& p, const Execution& e) { return rcvi(p, {}, e); }};
}

TEST(Compare, SaysWhenEachMethodWasFirstFeasibleAndHowGoodItGot) {
  const Problem problem = make("river_swim(radius=0.1)");
  const Comparison found = compare(problem, {crpo_with(0.1), crpo_with(0.0001)}, {.threads = 2});
  ASSERT_EQ(found.lines.size(), 2u);
  EXPECT_DOUBLE_EQ(found.bound, *robust(problem).reward.bound);
  const ComparisonLine& fast = found.lines[0];
  EXPECT_EQ(fast.first_feasible, 12);
  EXPECT_EQ(fast.last_reward, fast.solution.trace.reward.back());
  EXPECT_GE(*fast.best_reward, 0.59);
  EXPECT_NEAR(*fast.gap, found.bound - *fast.best_reward, 1e-12);
  const ComparisonLine& slow = found.lines[1];  // 200 tiny steps from an infeasible start
  EXPECT_FALSE(slow.first_feasible || slow.best_reward || slow.gap);
  EXPECT_GT(slow.last_constraints[0], 4);
}

TEST(Compare, AMethodWithOnePolicyIsFeasibleAtItsEnd) {
  const Problem problem = make("river_swim(horizon=10,discount=1,start=2)");
  const Comparison found = compare(problem, {by_rcvi()});
  EXPECT_EQ(found.lines[0].first_feasible, 10);
  EXPECT_EQ(found.lines[0].last_reward, found.lines[0].solution.reward.worst);
}

TEST(Compare, TheLeastProvedBoundCounts) {
  const Problem problem = make("river_swim");
  const auto claims = [](double bound) {
    return [bound](const Problem& p, const Execution& e) {
      Solution solution = robust(p, {}, e);
      solution.reward.bound = bound;
      return solution;
    };
  };
  const Comparison found = compare(problem, {{"a", claims(3)}, {"b", claims(2)}, by_rcvi()});
  EXPECT_EQ(found.bound, 2);
}

TEST(Compare, TracesBecomeOneTable) {
  const Problem problem = make("river_swim(horizon=10,discount=1,start=2)");
  const std::string csv = trace_csv(problem, compare(problem, {by_rcvi(), crpo_with(0.1)}));
  EXPECT_THAT(csv,
              ::testing::StartsWith(
                  "method,iteration,row_evaluations,seconds,reward,bound,\"cost\"\n\"rcvi\",1,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 10 + 201);
  EXPECT_THAT(csv, ::testing::HasSubstr("\"crpo, step 0.100000\",200,"));
}

TEST(Compare, ATraceMayHaveNoConstraints) {
  const Problem problem = make("river_swim");
  const auto bare = [](const Problem& p, const Execution& e) {
    Solution solution = robust(p, {}, e);
    solution.trace = {};
    solution.trace.iteration = {1};
    solution.trace.row_evaluations = {2};
    solution.trace.seconds = {3};
    solution.trace.reward = {4};
    solution.trace.bound = {5};
    return solution;
  };
  const std::string csv = trace_csv(problem, compare(problem, {{"bare", bare}}));
  EXPECT_THAT(csv, ::testing::EndsWith("\n\"bare\",1,2,3,4,5,\n"));
}

TEST(Compare, OneReportOfProgressStopsThemAll) {
  int calls = 0;
  double largest = 0;
  const Execution execution{.progress = [&](double done) {
    largest = std::max(largest, done);
    return ++calls < 20;
  }};
  const Comparison found =
      compare(make("river_swim"), {crpo_with(0.1), crpo_with(0.01)}, execution);
  EXPECT_LE(largest, 1);
  for (const ComparisonLine& line : found.lines) EXPECT_TRUE(line.solution.unfinished);
}

TEST(Compare, RefusesNothingAndTheSameTwice) {
  const Problem problem = make("river_swim");
  EXPECT_THAT(testing::error_of([&] { compare(problem, {}); }), ::testing::HasSubstr("no methods"));
  EXPECT_THAT(testing::error_of([&] {
                compare(problem, {by_rcvi(), by_rcvi()});
              }),
              ::testing::HasSubstr("rcvi is listed twice"));
}

}  // namespace
}  // namespace redoubt
