#include "solvers/frontier/search/memoryless_bracket.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "redoubt/frontier.h"
#include "support/random_problem.h"

// Optima are compared with linear and conic programs in tests/python/test_frontier.py, in searches
// that begin with this bracket.
namespace redoubt {
using namespace internal;
namespace {

using testing::random_problem;
using testing::RandomOptions;

RandomOptions several_constraints(std::uint64_t seed) {
  const Uncertainty sets[] = {KL{0.05}, TV{0.1, Reach::support}, TV{0.1}, Chi2{0.1}};
  RandomOptions options;
  options.uncertainty = sets[seed % 4];
  options.constraints = options.signals = 2 + static_cast<int>(seed % 2);
  options.horizon = 3;
  options.outcome_values = seed % 5 == 0;
  options.random_start = seed % 3 == 0;
  if (seed % 3 == 2) options.horizon.reset(), options.discount = 0.9;
  return options;
}

struct Found {
  bool open = false;
  double bound = 0;
  std::optional<EvaluatedPolicy> policy;
};

Found bracket_of(const Problem& problem) {
  const Execution execution;
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  BestPolicy best;
  const Extremes extremes = find_extremes(problem, workers, best);
  MemorylessBracket bracket(problem, 1e-3, extremes, 1e9, workers, best);
  Found found;
  found.open = bracket.run();
  bracket.lower_bound();
  bracket.offer_mixture();
  found.bound = bracket.bound();
  if (best.keeps_constraints()) found.policy = best.take();
  return found;
}

TEST(MemorylessBracket, HoldsTheOptimum) {
  int closed = 0, kept = 0;
  for (std::uint64_t seed = 0; seed < 36; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = random_problem(seed, several_constraints(seed));
    const Solution solution = frontier(problem, {.tolerance = 3e-2});
    const Found found = bracket_of(problem);
    if (!found.open) {
      ++closed;
      EXPECT_EQ(solution.status, Status::infeasible);
      continue;
    }
    if (solution.status == Status::infeasible) continue;
    const bool feasible =
        solution.status == Status::certified || solution.status == Status::feasible;
    if (feasible) {
      EXPECT_GE(found.bound, solution.reward.worst - 1e-9);
    }
    if (!found.policy) continue;
    ++kept;
    EXPECT_TRUE(feasible);
    EXPECT_LE(found.policy->evaluation.reward.worst, *solution.reward.bound + 1e-9);
    EXPECT_LE(found.policy->evaluation.reward.worst, found.bound + 1e-9);
  }
  EXPECT_GT(closed, 0);
  EXPECT_GT(kept, 10);
}

// Time passes only when somebody asks for it, so that the search stops at the same place anywhere.
TEST(MemorylessBracket, AStopHasAPolicyAndABracketBeforeAnyGameIsPlayed) {
  for (const bool infinite : {false, true}) {
    RandomOptions options;
    options.states = 30;
    options.constraints = options.signals = 2;
    options.horizon = 30;
    if (infinite) options.horizon.reset(), options.discount = 0.99;
    const Problem problem = random_problem(7, options);
    double now = 0;
    Execution execution;
    execution.threads = 1;
    execution.clock = [&] { return now += 1e-3; };
    execution.time_limit = infinite ? 15 : 2;
    const Solution solution = frontier(problem, {.tolerance = 1e-6}, execution);
    EXPECT_EQ(solution.status, Status::feasible) << infinite;
    EXPECT_TRUE(solution.unfinished);
    EXPECT_EQ(solution.iterations, 0);
    ASSERT_TRUE(solution.gap().has_value());
    EXPECT_LT(*solution.gap(), 0.5 * solution.reward.worst);
  }
}

}  // namespace
}  // namespace redoubt
