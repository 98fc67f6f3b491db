#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/error.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/gradient.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "redoubt/worst_kernel.h"
#include "support/patience.h"

namespace redoubt {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Says stop at one moment, and remembers when.
struct StopAfter {
  double seconds;
  Clock::time_point begin = Clock::now();
  Clock::time_point said = {};
  Execution execution() {
    return {.threads = 2, .progress = [this](double) {
              EXPECT_EQ(said, Clock::time_point{});  // nobody asks again
              if (since(begin) < seconds) return true;
              said = Clock::now();
              return false;
            }};
  }
};

// One stage of this takes minutes for RCVI, and seconds for one channel.
const Problem& large() {
  static const Problem problem =
      make("garnet(states=40000,actions=8,successors=12,horizon=20,bound=100)");
  return problem;
}

const Problem& endless() {
  static const Problem problem =
      make("garnet(states=20000,actions=8,successors=12,discount=0.999,bound=1000)");
  return problem;
}

struct Work {
  const char* name;
  const Problem& (*problem)();  // made by the test that needs it, not by every one that is listed
  std::function<Solution(const Execution&)> run;
};
void PrintTo(const Work& work, std::ostream* out) { *out << work.name; }

class EveryLongSolve : public ::testing::TestWithParam<Work> {};

TEST_P(EveryLongSolve, StopsWithinASecondWithAPolicy) {
  StopAfter stop{0.2};
  const Solution solution = GetParam().run(stop.execution());
  EXPECT_LT(since(stop.said), 1.0 * testing::kPatience);
  EXPECT_EQ(solution.status, Status::stopped);
  EXPECT_NO_THROW(check_policy(GetParam().problem(), solution.policy));
  ASSERT_EQ(solution.constraints.size(), 1u);
  if (std::isnan(solution.reward.worst)) {
    EXPECT_TRUE(std::isnan(solution.constraints[0].worst));
    EXPECT_FALSE(solution.constraints[0].satisfied);
    EXPECT_NE(solution.notes.back().find("unknown"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Stop, EveryLongSolve,
    ::testing::Values(
        Work{"rcvi", large,
             [](const Execution& e) { return rcvi(large(), {.memory_limit = 1e12}, e); }},
        Work{"robust", large, [](const Execution& e) { return robust(large(), e); }},
        Work{"frontier", large, [](const Execution& e) { return frontier(large(), {}, e); }},
        Work{"crpo", large, [](const Execution& e) { return crpo(large(), {}, e); }},
        Work{"crpo_of_an_infinite_horizon", endless,
             [](const Execution& e) { return crpo(endless(), {}, e); }}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Stop, EndsWhatHasNoAnswerYetWithinASecond) {
  const Policy policy = [] {
    std::vector<double> weights(large().model().rows(), 0.125);
    return markov_policy(large(), {weights});
  }();
  const auto stops = [](auto work) {
    StopAfter stop{0.1};
    EXPECT_THROW(work(stop.execution()), Stopped);
    EXPECT_LT(since(stop.said), 1.0 * testing::kPatience);
  };
  stops([&](const Execution& e) { evaluate(large(), policy, e); });
  stops([&](const Execution& e) { verify(large(), policy, e); });
  stops([&](const Execution& e) { achievable_range(large(), 0, e); });
  stops([&](const Execution& e) { WorstKernel(large(), policy, {Nature::Against::reward}, e); });
}

TEST(Stop, ObeysATimeLimitWithinAStage) {
  const auto begin = Clock::now();
  const Solution solution = robust(large(), {.threads = 2, .time_limit = 0.2});
  EXPECT_LT(since(begin), 1.2 * testing::kPatience);
  EXPECT_EQ(solution.status, Status::stopped);
  EXPECT_THROW(evaluate(large(), solution.policy, {.time_limit = 0.1}), Stopped);
}

}  // namespace
}  // namespace redoubt
