#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "redoubt/environments.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"

namespace redoubt {
namespace {

// The library has no state of its own: callers may work on one problem from several threads, each
// with threads of its own. The thread sanitizer looks at this one too.
TEST(TwoSolves, AtTheSameTimeAreAsIfAlone) {
  const Problem problem = make("river_swim(horizon=6)");
  const auto solve = [&](int which, const Execution& execution) {
    return which == 0   ? rcvi(problem, {}, execution)
           : which == 1 ? robust(problem, {}, execution)
                        : frontier(problem, {}, execution);
  };
  constexpr int kMethods = 3, kCallers = 6;
  std::vector<Solution> alone, together(kCallers);
  for (int which = 0; which < kMethods; ++which) alone.push_back(solve(which, {}));
  std::atomic<int> calls = 0;
  const Execution execution{.threads = 2, .progress = [&](double) { return ++calls > 0; }};
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i)
    callers.emplace_back([&, i] { together[i] = solve(i % kMethods, execution); });
  for (std::thread& caller : callers) caller.join();
  for (int i = 0; i < kCallers; ++i) {
    EXPECT_EQ(together[i].reward, alone[i % kMethods].reward);
    EXPECT_TRUE(together[i].policy == alone[i % kMethods].policy);
  }
  EXPECT_GT(calls, 0);
}

// Stopping one solve from another thread leaves its neighbour alone.
TEST(TwoSolves, AtTheSameTimeStopOneByOne) {
  const Problem large = make("garnet(states=4000,actions=8,successors=12,horizon=200,bound=100)");
  const Problem small = make("river_swim(horizon=6)");
  std::atomic<bool> stop = false;
  Solution stopped;
  std::thread long_solve([&] {
    stopped = robust(large, {}, {.threads = 2, .progress = [&](double) { return !stop.load(); }});
  });
  const Solution solution = robust(small, {}, {.threads = 2});
  stop = true;
  long_solve.join();
  EXPECT_TRUE(stopped.unfinished);
  EXPECT_EQ(solution.reward, robust(small).reward);
}

}  // namespace
}  // namespace redoubt
