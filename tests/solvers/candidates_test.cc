#include "solvers/candidates.h"

#include <gtest/gtest.h>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"

namespace redoubt {
using namespace internal;
namespace {

// A policy of which only its worst cases and its name matter.
EvaluatedPolicy candidate(const std::string& name, double reward, std::vector<double> costs) {
  EvaluatedPolicy made;
  made.origin = name;
  made.evaluation.reward.worst = reward;
  for (const double cost : costs)
    made.evaluation.constraints.push_back(
        {"cost", Sense::at_most, 1.0, {}, cost, cost <= 1.0, std::nullopt});
  return made;
}

std::string best_of(const std::vector<EvaluatedPolicy>& candidates,
                    std::vector<double> scales = {}) {
  BestPolicy policies(std::move(scales));
  for (const EvaluatedPolicy& one : candidates) policies.offer(one);
  return policies.best() ? policies.best()->origin : "";
}

TEST(BestPolicyTest, KeepsTheConstraintsFirstAndEarnsThen) {
  EXPECT_EQ(best_of({}), "");
  EXPECT_EQ(best_of({candidate("broken", 9, {2}), candidate("kept", 1, {1})}), "kept");
  EXPECT_EQ(best_of({candidate("kept", 1, {1}), candidate("broken", 9, {2})}), "kept");
  EXPECT_EQ(best_of({candidate("less", 1, {0}), candidate("more", 2, {1})}), "more");
  EXPECT_EQ(best_of({candidate("first", 1, {0}), candidate("second", 1, {1})}), "first");
  EXPECT_EQ(best_of({candidate("less", 1, {}), candidate("more", 2, {})}), "more");
}

TEST(BestPolicyTest, ViolatesLeastWhereNoneKeepsThem) {
  EXPECT_EQ(best_of({candidate("far", 9, {3}), candidate("near", 1, {2})}), "near");
  EXPECT_EQ(best_of({candidate("poor", 1, {2}), candidate("rich", 2, {2})}), "rich");
  // By 2 of the first, or by 3 of the second, whose unit is larger.
  const auto first = candidate("first", 1, {3, 0}), second = candidate("second", 1, {0, 4});
  EXPECT_EQ(best_of({first, second}), "first");
  EXPECT_EQ(best_of({first, second}, {1, 10}), "second");
}

TEST(Shortfall, IsInTheSenseOfTheConstraint) {
  EXPECT_EQ(shortfall({"a", Sense::at_most, 1, {}, 3, false, {}}), 2);
  EXPECT_EQ(shortfall({"a", Sense::at_least, 1, {}, -1, false, {}}), 2);
  EXPECT_EQ(shortfall({"a", Sense::at_most, 1, 0.75, 0.5, false, {}}), 0.25);
  EXPECT_EQ(shortfall({"a", Sense::at_most, 1, {}, 1 + 1e-12, true, {}}), 0);
}

// What they say of their policies is what an evaluation says.
TEST(Candidates, AreEvaluated) {
  for (const char* id : {"river_swim(horizon=10,start=3)", "machine_replacement", "hedge"}) {
    SCOPED_TRACE(id);
    const Problem problem = make(id);
    const auto expect_evaluated = [&](const EvaluatedPolicy& found) {
      const Evaluation again = evaluate(problem, found.policy);
      EXPECT_EQ(found.evaluation.reward.worst, again.reward.worst) << found.origin;
      EXPECT_EQ(found.evaluation.constraints, again.constraints) << found.origin;
    };
    BestPolicy policies;
    Workers workers(1);
    offer_best_for_one(problem, workers, policies);
    ASSERT_TRUE(policies.best());
    expect_evaluated(*policies.best());
    const auto quick = quick_rcvi(problem, {});
    ASSERT_TRUE(quick);
    expect_evaluated(*quick);
  }
}

TEST(Candidates, TakeNoTimeFromASolveWithoutALimit) {
  EXPECT_FALSE(candidates_in_time(make("river_swim"), {}).best());
  EXPECT_TRUE(candidates_in_time(make("river_swim"), {.time_limit = 1e6}).best());
}

// When the share of the time is over there may be nothing; a caller who asks to stop is heard.
TEST(Candidates, StopInTime) {
  double now = 0;
  const auto clock = [&] { return now += 1; };
  EXPECT_FALSE(candidates_in_time(make("river_swim"), {.time_limit = 5, .clock = clock}).best());
  EXPECT_FALSE(quick_rcvi(make("river_swim"), {.time_limit = 5, .clock = clock}));
  const auto no = [](double) { return false; };
  EXPECT_THROW(
      candidates_in_time(make("river_swim"), {.time_limit = 1e9, .progress = no, .clock = clock}),
      Stopped);
  EXPECT_THROW(quick_rcvi(make("river_swim"), {.progress = no, .clock = clock}), Stopped);
}

}  // namespace
}  // namespace redoubt
