#include "redoubt/learn.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "redoubt/environments.h"
#include "redoubt/error.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "sampling/allocation.h"
#include "sampling/counted.h"
#include "sampling/two_sides.h"
#include "support/folders.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using namespace internal;

// Whatever comes next, the mean of the evidence is what it was: that makes it a martingale.
TEST(ConfidenceSequence, IsAFairBetAgainstTheTruth) {
  EXPECT_EQ(log_evidence(0, 0, 0.3), 0);
  for (const auto& [heads, flips] : {std::pair{0, 0}, {0, 25}, {3, 10}, {40, 40}, {1700, 30000}})
    for (const double p : {0.5, 0.06, 1e-4}) {
      const double before = log_evidence(heads, flips, p);
      const double mean = p * std::exp(log_evidence(heads + 1, flips + 1, p) - before) +
                          (1 - p) * std::exp(log_evidence(heads, flips + 1, p) - before);
      EXPECT_NEAR(mean, 1, 1e-7) << heads << " of " << flips << ", " << p;
    }
}

TEST(ConfidenceSequence, EndsWhereTheEvidenceIsEnough) {
  for (const auto& [heads, flips] : {std::pair{3, 10}, {0, 25}, {40, 40}, {17, 300}, {1, 100000}}) {
    for (const double evidence : {3.0, 8.0}) {
      const Range range = coin_interval(heads, flips, evidence);
      if (heads > 1)  // one is no evidence against a coin that shows it once in a million flips
        EXPECT_NEAR(log_evidence(heads, flips, range.low), evidence, 1e-6);
      else
        EXPECT_EQ(range.low, 0);
      if (heads < flips)
        EXPECT_NEAR(log_evidence(heads, flips, range.high), evidence, 1e-6);
      else
        EXPECT_EQ(range.high, 1);
      for (double p = 1e-6; 1.3 * p < 1; p *= 1.3) {
        const auto at = [&, heads = heads, flips = flips](double q) {
          return log_evidence(heads, flips, q);
        };
        EXPECT_LE(at(1.15 * p), (at(p) + at(1.3 * p)) / 2 + 1e-9);  // convex
        EXPECT_EQ(at(p) <= evidence, range.low <= p && p <= range.high) << p;
      }
    }
  }
  EXPECT_EQ(coin_interval(0, 0, 3).low, 0);
  EXPECT_EQ(coin_interval(0, 0, 3).high, 1);
}

// All numbers of flips up to 2,000 at once, with delta .2: 400 coins of each kind.
TEST(ConfidenceSequence, HoldsAtAllTimesAtOnce) {
  constexpr double kDelta = 0.2;
  std::mt19937_64 random(5);
  for (const double p : {0.5, 0.03}) {
    int failures = 0;
    for (int run = 0; run < 400; ++run) {
      std::int64_t heads = 0;
      bool failed = false;
      for (std::int64_t flips = 1; flips <= 2000 && !failed; ++flips) {
        heads += static_cast<double>(random() >> 11) * 0x1p-53 < p;
        if (flips % 10 != 0 && flips > 50) continue;  // looking less often fails less often
        const Range range = coin_interval(heads, flips, -std::log(kDelta));
        failed = p < range.low || p > range.high;
      }
      failures += failed;
    }
    EXPECT_LE(failures, 0.2 * 400 + 2.33 * std::sqrt(400 * 0.2 * 0.8));
    EXPECT_GE(failures, 1);  // it is no interval that holds everything
  }
}

// At all numbers of draws up to 300 at once: what was never seen has no more mass than that.
TEST(MissingMass, HoldsAtAllTimesAtOnce) {
  EXPECT_EQ(missing_mass(4, 4, 10, 3), 0);
  EXPECT_EQ(missing_mass(1, 4, 0, 3), 1);
  // One of four: a quarter of a half of the sets.
  EXPECT_NEAR(std::pow(1 - missing_mass(1, 4, 10, 3), 10), std::exp(-3) / 8, 1e-12);
  constexpr double kDelta = 0.2;
  const std::vector<double> row = {0.9, 0.05, 0.03, 0.01, 0.01};
  std::mt19937_64 random(8);
  int failures = 0;
  for (int run = 0; run < 1000; ++run) {
    std::vector<char> seen(row.size(), 0);
    bool failed = false;
    for (int draws = 1; draws <= 300 && !failed; ++draws) {
      seen[std::discrete_distribution<std::size_t>(row.begin(), row.end())(random)] = 1;
      double missing = 0;
      for (std::size_t i = 0; i < row.size(); ++i) missing += seen[i] ? 0 : row[i];
      const auto count = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), 1));
      failed = missing > missing_mass(count, row.size(), draws, -std::log(kDelta));
    }
    failures += failed;
  }
  EXPECT_LE(failures, 1000 * kDelta + 2.33 * std::sqrt(1000 * kDelta * (1 - kDelta)));
}

SimulatorShape one_row(State states) {
  SimulatorShape shape = regular_shape(states, 1, {});
  shape.ranges = {SimulatorShape::Range{0, 1}};
  return shape;
}

TEST(RowIntervals, HoldTheSharesAndCornersSpanThem) {
  std::mt19937_64 random(6);
  for (int run = 0; run < 60; ++run) {
    const State states = 2 + static_cast<State>(random() % 6);
    const SimulatorShape shape = one_row(states);
    RowCounts counts(shape);
    const int draws = static_cast<int>(random() % 200);
    for (int i = 0; i < draws; ++i)
      counts.add(0, {static_cast<State>(random() % random() % states), 0, {}});
    const auto intervals = row_intervals(counts, 0, 5);
    const auto corners = row_corners(intervals);
    ASSERT_FALSE(corners.empty());
    for (const auto& corner : corners) {
      double sum = 0;
      for (const double p : corner) {
        EXPECT_GE(p, 0);
        sum += p;
      }
      EXPECT_NEAR(sum, 1, 1e-9);
    }
    // In every direction some corner goes as far as anything within the intervals does.
    for (int direction = 0; direction < 20; ++direction) {
      std::vector<double> v(states);
      for (double& x : v) x = static_cast<double>(random() >> 11) * 0x1p-53;
      std::vector<std::size_t> order(states);
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::sort(order.begin(), order.end(), [&](auto a, auto b) { return v[a] > v[b]; });
      double left = 1, farthest = 0, most = 0;
      for (const Range& range : intervals) left -= range.low;
      for (const std::size_t i : order) {
        const double given = std::min(std::max(left, 0.0), intervals[i].high - intervals[i].low);
        left -= given;
        farthest += (intervals[i].low + given) * v[i];
      }
      for (const auto& corner : corners) {
        double sum = 0;
        for (std::size_t i = 0; i < v.size(); ++i) sum += corner[i] * v[i];
        most = std::max(most, sum);
      }
      EXPECT_GE(most, farthest - 1e-9);
      if (states <= 4) {
        EXPECT_LE(most, farthest + 1e-9);  // and none goes further
      }
    }
  }
}

// The true optimum lies between the two sides, whatever the shape and the set; and the sides close.
TEST(TwoSides, EncloseTheTruth) {
  std::vector<Uncertainty> sets = {Nominal{}, TV{0.1, Reach::support}, TV{0.1}, Chi2{0.1},
                                   KL{0.05}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    testing::RandomOptions options;
    options.states = 4, options.actions = 2, options.horizon = 3;
    options.successors = 2 + static_cast<int>(seed % 2);
    options.uncertainty = sets[seed % sets.size()];
    options.constraints = static_cast<int>(seed / 5 % 2);
    const Problem problem = testing::random_problem(seed, testing::shaped(options, seed % 4 * 4));
    const Solution truth = frontier(problem, {.tolerance = 1e-4});
    double width = INFINITY;
    for (const int samples : {100, 10000}) {
      SCOPED_TRACE(fmt::format("seed {}, {} samples", seed, samples));
      const testing::Counted counted(problem, samples);
      const KnownRows known(counted.counts, 6);
      const Solution low = frontier(pessimistic_problem(known, problem.terms()));
      const Solution high = frontier(optimistic_problem(known, problem.terms()).problem);
      if (truth.status != Status::infeasible) {
        ASSERT_NE(high.status, Status::infeasible);
        EXPECT_GE(*high.reward.bound, truth.reward.worst - 1e-9);
      }
      if (low.status == Status::certified || low.status == Status::feasible) {
        EXPECT_LE(low.reward.worst, *truth.reward.bound + 1e-9);
        // The policy keeps on the true model what it promises here.
        const Evaluation real = evaluate(problem, low.policy);
        EXPECT_GE(real.reward.worst, low.reward.worst - 1e-9);
        EXPECT_TRUE(real.satisfied());
        EXPECT_LT(*high.reward.bound - low.reward.worst, width);
        width = *high.reward.bound - low.reward.worst;
      }
    }
  }
}

TEST(Allocation, IsProportionalToTwoThirdsOfTheContributionAndNeverTakesBack) {
  const auto to = allocate({10, 10, 5000, 0}, {1, 8, 1e-3, 0}, 6000);
  EXPECT_EQ(to[2], 5000);
  EXPECT_EQ(to[3], 0);
  EXPECT_NEAR(static_cast<double>(to[1]) / static_cast<double>(to[0]), 4, 0.05);
  EXPECT_NEAR(static_cast<double>(to[0] + to[1]), 1000, 3);
  EXPECT_EQ(allocate({3, 4}, {0, 0}, 100), (std::vector<std::int64_t>{3, 4}));
}

Learned learnt(const std::string& id, const LearnOptions& options, const Execution& run = {}) {
  const Problem problem = make(id);
  const auto simulator = problem_simulator(problem);
  return learn(*simulator, problem.terms(), options, run);
}

TEST(Learn, CertifiesWithFarFewerSamplesThanTheTheoremAsksFor) {
  const std::string id = "river_swim(horizon=10,start=2)";
  const Problem problem = make(id);
  const Learned learned = learnt(id, {.epsilon = 0.5, .delta = 0.05});
  ASSERT_EQ(learned.solution.status, Status::certified);
  EXPECT_LE(*learned.solution.gap(), 0.5);
  EXPECT_LE(learned.rounds.back().samples * 100, 328252 * problem.model().rows());
  const Evaluation real = evaluate(problem, learned.solution.policy);
  EXPECT_GE(real.reward.worst, learned.solution.reward.worst - 1e-9);
  EXPECT_LE(real.constraints[0].worst, learned.solution.constraints[0].worst + 1e-9);
  EXPECT_GE(*learned.solution.reward.bound, frontier(problem).reward.worst);
  // What is returned can be verified by other code.
  const Evaluation again = verify(learned.problem, learned.solution.policy);
  EXPECT_NEAR(again.reward.worst, learned.solution.reward.worst, 1e-9);
}

TEST(Learn, KeepsTheBoundItselfWhenStrict) {
  const Learned learned =
      learnt("river_swim(horizon=6,start=3,bound=1.2)", {.epsilon = 0.3, .strict = true});
  ASSERT_EQ(learned.solution.status, Status::certified);
  EXPECT_LE(learned.solution.constraints[0].worst, 1.2 + 1e-9);
}

// Its first round ends without a search, but that is no reason to return a policy that breaks the
// constraint.
TEST(Learn, SearchesWhatItReturnsWhenItIsStoppedEarly) {
  LearnOptions options{.epsilon = 0.5};
  options.round = [](const LearnRound& round) {
    EXPECT_FALSE(round.feasible);
    return false;
  };
  const Learned learned = learnt("streaming(buffer=4,horizon=8)", options);
  EXPECT_EQ(learned.solution.status, Status::feasible);
  EXPECT_TRUE(learned.rounds.back().feasible);
  EXPECT_EQ(learned.rounds.back().worst, learned.solution.reward.worst);
  EXPECT_EQ(learned.rounds.back().bound, *learned.solution.reward.bound);
}

TEST(Learn, ProvesThatNoPolicyKeepsTheConstraint) {
  const Learned learned = learnt("river_swim(horizon=6,start=2,bound=0.1)", {.epsilon = 0.05});
  EXPECT_EQ(learned.solution.status, Status::infeasible);
  EXPECT_FALSE(learned.solution.reward.bound);
}

TEST(Learn, SaysHonestlyWhatItKnowsWhenSamplesEnd) {
  const Learned learned = learnt("river_swim(horizon=10,start=3)",
                                 {.epsilon = 0.01, .strict = true, .most_samples = 2000});
  EXPECT_TRUE(learned.solution.status == Status::stopped ||
              learned.solution.status == Status::feasible);
  EXPECT_LE(learned.rounds.back().samples, 2000);
  EXPECT_GT(learned.rounds.back().samples, 1500);
}

// Samples and bound are those of frontier; the policy and its numbers are the method's own.
TEST(Learn, TakesThePolicyOfAnyMethod) {
  const std::string id = "river_swim(horizon=6,start=3,bound=1.2)";
  LearnOptions options{.epsilon = 0.3, .seed = 4};
  const Learned by_frontier = learnt(id, options);
  options.method = [](const Problem& problem, const Execution& run) {
    return rcvi(problem, {.fallback = Fallback::utility}, run);
  };
  const Learned by_rcvi = learnt(id, options);
  EXPECT_EQ(by_rcvi.samples, by_frontier.samples);
  EXPECT_EQ(by_rcvi.rounds, by_frontier.rounds);
  EXPECT_EQ(by_rcvi.solution.reward.bound, by_frontier.solution.reward.bound);
  EXPECT_LT(by_rcvi.solution.reward.worst, by_frontier.solution.reward.worst);
  EXPECT_EQ(evaluate(by_rcvi.problem, by_rcvi.solution.policy).reward.worst,
            by_rcvi.solution.reward.worst);
  EXPECT_EQ(by_rcvi.solution.status,
            *by_rcvi.solution.gap() <= options.epsilon ? Status::certified : Status::feasible);

  // One that ignores the constraint ends with the same samples, and claims nothing.
  options.method = [](const Problem& problem, const Execution& run) {
    return robust(problem, {}, run);
  };
  const Learned by_robust = learnt(id, options);
  EXPECT_EQ(by_robust.samples, by_frontier.samples);
  EXPECT_EQ(by_robust.solution.status, Status::stopped);
  EXPECT_FALSE(by_robust.solution.constraints[0].satisfied);
}

TEST(Learn, HasTheSameBitsOnSeveralThreadsAndAfterAStop) {
  const std::string id = "river_swim(horizon=6,start=3,bound=1.2)";
  const auto store = testing::own_path("learn.samples");
  LearnOptions options{.epsilon = 0.3, .seed = 4};
  const Learned alone = learnt(id, options);
  const Learned threads = learnt(id, options, {.threads = 3});
  options.store = store;
  options.round = [](const LearnRound&) { return false; };
  const Learned stopped = learnt(id, options);
  EXPECT_EQ(stopped.rounds.size(), 1u);
  EXPECT_TRUE(stopped.solution.unfinished);
  options.round = {};
  const Learned again = learnt(id, options);
  std::filesystem::remove(store);
  for (const Learned* other : {&threads, &again}) {
    EXPECT_EQ(other->solution.policy, alone.solution.policy);
    EXPECT_EQ(other->solution.reward, alone.solution.reward);
    EXPECT_EQ(other->samples, alone.samples);
    EXPECT_EQ(other->rounds, alone.rounds);
  }
  EXPECT_EQ(again.reused, stopped.rounds[0].samples);
  EXPECT_EQ(again.queries + again.reused, alone.queries);
}

TEST(Learn, RefusesWhatMakesNoSense) {
  const auto fails = [](const LearnOptions& options, const std::string& id = "fork") {
    try {
      learnt(id, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(fails({.epsilon = 0}), "epsilon = 0, must be positive and finite");
  EXPECT_EQ(fails({.delta = 1}), "delta = 1, must be in (0, 1)");
  EXPECT_EQ(fails({.most_samples = 3}, "river_swim(horizon=3)"),
            "most_samples = 3, must be at least 12: one for each row");
  EXPECT_EQ(fails({}, "fork(set=tilt)"),
            "set tilt around rows that are known by bounds, must be none, tv, chi2 or kl");
}

// A coin that leads on or back, and pays what the function says.
SimulatorShape coin_shape() {
  SimulatorShape shape = regular_shape(2, 1, {});
  shape.terms.horizon = 2;
  shape.outcomes = {{{0, {}}, {1, {}}}, {{1, {}}}};
  return shape;
}

std::string error_of(const SimulatorShape& shape, std::function<Sample(const Query&)> function) {
  try {
    const auto simulator = function_simulator(shape, std::move(function));
    learn(*simulator, shape.terms, {.epsilon = 0.5});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Learn, AsksForRangesOfWhatVariesAndMindsThem) {
  SimulatorShape shape = coin_shape();
  const auto varies = [](const Query& query) {
    return Sample{
        query.state == 1 || query.seed % 2 ? 1 : 0, static_cast<double>(query.seed % 3), {}};
  };
  EXPECT_NE(error_of(shape, varies).find("varies from draw to draw, its range must be declared"),
            std::string::npos);
  shape.ranges = {SimulatorShape::Range{0, 1}};
  EXPECT_NE(error_of(shape, varies).find("reward = 2, must be in its declared range 0 to 1"),
            std::string::npos);
  shape.ranges = {SimulatorShape::Range{0, 2}};
  EXPECT_EQ(error_of(shape, [](const Query&) { return Sample{1, 1, {}}; }), "no error");
  EXPECT_NE(error_of(shape,
                     [](const Query&) {
                       return Sample{0, 1, {}};
                     })
                .find("no declared outcome"),
            std::string::npos);
}

// What the ranges leave open stays in the bracket: it holds the truth all the same.
TEST(Learn, BracketsRewardsThatVaryByTheirRanges) {
  SimulatorShape shape = coin_shape();
  shape.ranges = {SimulatorShape::Range{0, 2}};
  const auto simulator = function_simulator(shape, [](const Query& query) {
    return Sample{
        query.state == 1 || query.seed % 2 ? 1 : 0, static_cast<double>(query.seed / 2 % 3), {}};
  });
  const Learned learned = learn(*simulator, shape.terms, {.epsilon = 0.1, .most_samples = 4000});
  EXPECT_EQ(learned.solution.status, Status::feasible);
  EXPECT_LE(learned.solution.reward.worst, 2);  // two draws of mean 1
  EXPECT_GE(*learned.solution.reward.bound, 2);
}

// Of the program that draws its own samples; tests/python/test_learn.py has more problems.
TEST(Learn, IsRightAboutTheTruthInNearlyAllRuns) {
  const Problem problem = make("fork(set=kl,radius=0.05,bound=1.2)");
  const double best = frontier(problem, {.tolerance = 1e-5}).reward.worst;
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto simulator = problem_simulator(problem);
    const Learned learned =
        learn(*simulator, problem.terms(), {.epsilon = 0.2, .delta = 0.1, .seed = seed});
    const Evaluation real = evaluate(problem, learned.solution.policy);
    const bool right = learned.solution.status == Status::certified &&
                       real.reward.worst >= learned.solution.reward.worst - 1e-9 &&
                       real.constraints[0].worst >= 1.2 - 0.2 - 1e-9 &&
                       *learned.solution.reward.bound >= best - 1e-9;
    wrong += !right;
  }
  EXPECT_LE(wrong, 9);  // at most .1: more than 9 of 40 would have probability 1 %
}

}  // namespace
}  // namespace redoubt
