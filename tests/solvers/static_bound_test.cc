#include "solvers/frontier/search/static_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::random_problem;
using testing::RandomOptions;
using testing::shaped;

constexpr double kTolerance = 1e-4;

// The bracket of the whole search, run on the nominal model, contains the optimum. The bound must
// not be below what it achieves, nor above its bound by more than its own tolerance.
void expect_optimum(const Problem& problem, double bound) {
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  const Solution nominal = frontier(problem.with(terms), {.tolerance = kTolerance});
  ASSERT_NE(nominal.status, Status::infeasible);
  const double scale = std::max(1.0, std::abs(nominal.reward.worst));
  EXPECT_GE(bound, nominal.reward.worst - 1e-9 * scale);
  EXPECT_LE(bound, *nominal.reward.bound + kTolerance * scale);
}

TEST(StaticBound, IsTheOptimumOfTheNominalModel) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions options;
    options.constraints = options.signals = static_cast<int>(seed % 4);
    const Problem problem = random_problem(seed, shaped(options, seed / 4));
    const StaticBound found = find_static_bound(problem, kTolerance, {});
    EXPECT_FALSE(found.stopped);
    Terms terms = problem.terms();
    terms.uncertainty = Nominal{};
    const bool infeasible = frontier(problem.with(terms)).status == Status::infeasible;
    EXPECT_EQ(found.infeasible, infeasible);
    ASSERT_EQ(found.reward.has_value(), !infeasible);
    if (!infeasible) expect_optimum(problem, *found.reward);
  }
}

TEST(StaticBound, HoldsForAnInfiniteHorizon) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions options;
    options.horizon.reset();
    options.discount = 0.9;
    options.random_start = true;
    const Problem problem = random_problem(seed, options);
    expect_optimum(problem, *find_static_bound(problem, kTolerance, {}).reward);
  }
}

// What the best policy for the constraint just reaches is reached by no other: the prices are steep
// there.
TEST(StaticBound, HoldsWhereTheConstraintIsAsTightAsCanBe) {
  for (const char* start : {"1", "2", "3"}) {
    const std::string id = "river_swim(horizon=10,start=" + std::string(start);
    Terms terms = make(id + ")").terms();
    terms.uncertainty = Nominal{};
    const Problem loose = make(id + ")").with(terms);
    terms.constraints[0].bound = achievable_range(loose, 0).best;
    const Problem tight = loose.with(terms);
    const double bound = *find_static_bound(tight, kTolerance, {}).reward;
    EXPECT_LE(bound, *find_static_bound(loose, kTolerance, {}).reward);
    EXPECT_GE(bound, frontier(tight).reward.worst - 1e-9);
  }
}

TEST(StaticBound, WithoutStagesIsNothing) {
  const Problem problem = make("river_swim(horizon=0,start=3)");
  EXPECT_EQ(find_static_bound(problem, kTolerance, {}).reward, 0.0);
}

// A bound is there after the first prices, and only gets better.
TEST(StaticBound, FallsUntilItIsStopped) {
  const Problem problem =
      make("garnet(states=12,actions=3,successors=4,horizon=5,start=7,bound=8)");
  const double best = *find_static_bound(problem, 1e-9, {}).reward;
  double before = std::numeric_limits<double>::infinity();
  for (int patience = 0;; ++patience) {
    int steps = 0;
    const StaticBound found =
        find_static_bound(problem, 1e-9, {.progress = [&](double) { return ++steps <= patience; }});
    EXPECT_EQ(found.reward.has_value(), patience >= 5);
    if (!found.reward) continue;
    EXPECT_LE(*found.reward, before);
    before = *found.reward;
    if (!found.stopped) break;
    EXPECT_GE(*found.reward, best);
  }
  EXPECT_EQ(before, best);
}

}  // namespace
}  // namespace redoubt
