#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "redoubt/chance.h"
#include "redoubt/environments.h"
#include "redoubt/error.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/gradient.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "redoubt/worst_kernel.h"
#include "support/methods.h"
#include "support/patience.h"

namespace redoubt {
namespace {

// Work instead of time, which others on the machine take, too: what this thread has computed.
double work() {
  timespec spent = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

// Says stop after some work, and remembers when.
struct StopAfter {
  double seconds;
  double begin = work();
  double said = -1;
  Execution execution() {
    return {.threads = 2,
            .progress =
                [this](double) {
                  EXPECT_LT(said, 0);  // nobody asks again
                  if (work() - begin < seconds) return true;
                  said = work();
                  return false;
                },
            .clock = work};
  }
};

// One stage of this takes minutes for RCVI, and seconds for one channel.
const Problem& large() {
  static const Problem problem =
      make("garnet(states=40000,actions=8,successors=12,horizon=20,bound=100)");
  return problem;
}

const Problem& many_stages() {
  static const Problem problem = [] {
    Terms terms = large().terms();
    terms.horizon = 1000;
    return large().with(std::move(terms));
  }();
  return problem;
}

const Problem& endless() {
  static const Problem problem =
      make("garnet(states=20000,actions=8,successors=12,discount=0.999,bound=1000)");
  return problem;
}

Problem with_chance(const Problem& problem, double bound, double probability) {
  Terms terms = problem.terms();
  terms.constraints[0].bound = bound;
  terms.constraints[0].probability = probability;
  return problem.with(std::move(terms));
}
// Totals on no lattice: the pairs of a state and a budget take seconds to find, and longer to use.
const Problem& large_chance() {
  static const Problem problem =
      with_chance(make("garnet(states=2000,actions=4,successors=5,horizon=10,bound=8)"), 4, 0.5);
  return problem;
}

using Solve = std::function<Solution(const Problem&, const Execution&)>;
Solution by_rcvi(const Problem& p, const Execution& e) {
  return rcvi(p, {.memory_limit = 1e12}, e);
}
Solution by_frontier(const Problem& p, const Execution& e) { return frontier(p, {}, e); }
Solution by_crpo(const Problem& p, const Execution& e) { return crpo(p, {}, e); }

struct Work {
  const char* name;
  const Problem& (*problem)();  // made by the test that needs it, not by every one that is listed
  Solve run;
  double sweep = 0;  // seconds of work that nobody interrupts
};
void PrintTo(const Work& work, std::ostream* out) { *out << work.name; }

// What every answer says that was stopped.
void expect_honest(const Problem& problem, const Solution& solution) {
  EXPECT_TRUE(solution.unfinished);
  ASSERT_EQ(solution.constraints.size(), problem.constraints().size());
  EXPECT_FALSE(solution.notes.empty());
  if (!is_known(solution.reward.worst)) {
    EXPECT_EQ(solution.status, Status::stopped);
    EXPECT_TRUE(solution.policy.stages.empty());
    EXPECT_FALSE(solution.gap());
    for (const ConstraintResult& c : solution.constraints) {
      EXPECT_FALSE(is_known(c.worst));
      EXPECT_FALSE(c.satisfied);
    }
    return;
  }
  EXPECT_NO_THROW(check_policy(problem, solution.policy));
  bool keeps = true;
  for (const ConstraintResult& c : solution.constraints) {
    // A chance constraint takes a larger model, which may not have been there yet.
    EXPECT_TRUE(is_known(c.worst) || (c.probability && !c.satisfied));
    keeps = keeps && c.satisfied;
  }
  EXPECT_EQ(keeps, solution.status == Status::feasible || solution.status == Status::certified);
}

class EveryLongSolve : public ::testing::TestWithParam<Work> {};

TEST_P(EveryLongSolve, DoesLittleMoreOnceItIsAskedToStop) {
  StopAfter stop{0.2};
  const Solution solution = GetParam().run(GetParam().problem(), stop.execution());
  EXPECT_LT(work() - stop.said, 1.0 * testing::kPatience);
  expect_honest(GetParam().problem(), solution);
}

// The longest silence between two questions, in the first part of the work: setting up, planning,
// first sweeps, augmentation.
TEST_P(EveryLongSolve, AsksWhetherToStop) {
  const Problem& problem = GetParam().problem();
  const double begin = work();
  double last = begin, longest = 0;
  const auto ask = [&](double) {
    longest = std::max(longest, work() - last);
    last = work();
    return work() - begin < 1.0 * testing::kPatience;
  };
  GetParam().run(problem, {.progress = ask, .clock = work});
  EXPECT_LT(longest, (0.3 + GetParam().sweep) * testing::kPatience);
}

INSTANTIATE_TEST_SUITE_P(Stop, EveryLongSolve,
                         ::testing::Values(Work{"rcvi", large, by_rcvi},
                                           Work{"robust", many_stages, testing::by_robust},
                                           Work{"frontier", large, by_frontier},
                                           Work{"crpo", large, by_crpo, 0.5},  // all weights
                                           Work{"frontier_chance", large_chance, by_frontier},
                                           Work{"rcvi_chance", large_chance, by_rcvi},
                                           Work{"robust_chance", large_chance, testing::by_robust},
                                           Work{"crpo_of_an_infinite_horizon", endless, by_crpo}),
                         [](const auto& test) { return std::string(test.param.name); });

// The larger model of a chance constraint is not there yet: what can be known without it is.
TEST(Stop, WithinAnAugmentationLeavesAPolicy) {
  for (const Solve& solve : {Solve(by_frontier), Solve(by_rcvi), Solve(testing::by_robust)}) {
    StopAfter stop{0.05};
    const Solution solution = solve(large_chance(), stop.execution());
    EXPECT_EQ(solution.status, Status::stopped);
    EXPECT_FALSE(solution.method.empty());
    ASSERT_TRUE(is_known(solution.reward.worst));
    EXPECT_FALSE(is_known(solution.constraints[0].worst));
    EXPECT_THAT(solution.notes,
                ::testing::Contains(::testing::HasSubstr("it is not known whether")));
    Terms free = large_chance().terms();
    free.constraints.clear();
    EXPECT_EQ(solution.reward.worst,
              evaluate(large_chance().with(free), solution.policy).reward.worst);
  }
}

TEST(Stop, EndsWhatHasNoAnswerYet) {
  const Policy policy = [] {
    std::vector<double> weights(large().model().rows(), 0.125);
    return markov_policy(large(), {weights});
  }();
  const auto stops = [](auto what) {
    StopAfter stop{0.1};
    EXPECT_THROW(what(stop.execution()), Stopped);
    EXPECT_LT(work() - stop.said, 1.0 * testing::kPatience);
  };
  stops([&](const Execution& e) { evaluate(large(), policy, e); });
  stops([&](const Execution& e) { verify(large(), policy, e); });
  stops([&](const Execution& e) { achievable_range(large(), 0, e); });
  stops([&](const Execution& e) { WorstKernel(large(), policy, {Nature::Against::reward}, e); });
}

// ---- every phase asks ---------------------------------------------------------------------------

// Solves that spend their work in different phases: games, landings, controllers, static bounds,
// kept kernels, augmentation, lifting, proofs without rounding, budgets.
const Problem& finite() {
  static const Problem problem =
      make("garnet(states=40,actions=3,successors=5,horizon=10,set=kl,radius=0.05)");
  return problem;
}
const Problem& anywhere() {
  static const Problem problem = make("grid(size=5,horizon=8,set=tv,radius=0.1)");
  return problem;
}
const Problem& discounted() {
  static const Problem problem = make("grid(size=6,discount=0.9,set=kl,radius=0.05)");
  return problem;
}
const Problem& on_a_lattice() {
  static const Problem problem = with_chance(make("grid(size=7,horizon=24)"), 3, 0.8);
  return problem;
}
const Problem& rounded() {
  static const Problem problem =
      with_chance(make("garnet(states=8,actions=2,successors=3,horizon=5)"), 2.5, 0.5);
  return problem;
}

class EveryPhase : public ::testing::TestWithParam<Work> {};

// The longest silence between two questions, of all the work.
TEST_P(EveryPhase, AsksWhetherToStop) {
  const Problem& problem = GetParam().problem();
  const double begin = work();
  double last = begin, longest = 0;
  const auto ask = [&](double) {
    longest = std::max(longest, work() - last);
    last = work();
    return true;
  };
  const Solution solution = GetParam().run(problem, {.progress = ask, .clock = work});
  EXPECT_FALSE(solution.unfinished);
  ask(1);
  EXPECT_LT(longest, std::max(0.2, 0.2 * (work() - begin)));
}

// Stopped at any moment, an answer is honest; and it is at least as good as the policies that are
// best for one thing alone, once there was the time to evaluate those. The clock counts how often
// it is looked at, so that the moments are the same on every machine.
TEST_P(EveryPhase, AnswersHonestlyWheneverItIsStopped) {
  const Problem& problem = GetParam().problem();
  double now = 0;
  const auto clock = [&] { return now += 1; };
  const auto solve = [&](double limit) {
    now = 0;
    return GetParam().run(problem, {.time_limit = limit, .clock = clock});
  };
  EXPECT_FALSE(solve(1e12).unfinished);
  const double all = now;
  bool had_policy = false, had_all = false, kept = false;
  double reward = 0;
  constexpr int kMoments = 12;
  for (int moment = 0; moment <= kMoments; ++moment) {
    const double limit = all * std::pow(static_cast<double>(moment) / kMoments, 2);
    SCOPED_TRACE(limit / all);
    const Solution solution = solve(limit);
    if (!solution.unfinished) continue;  // the limit leaves more to cheap candidates
    expect_honest(problem, solution);
    if (::testing::Test::HasFailure()) return;
    const bool has_policy = is_known(solution.reward.worst);
    EXPECT_LE(had_policy, has_policy);
    had_policy = has_policy;
    if (!has_policy) continue;
    // What it says is what an evaluation says.
    const Evaluation again = evaluate(problem, solution.policy);
    EXPECT_NEAR(solution.reward.worst, again.reward.worst, 1e-6);
    bool all_known = true;
    for (std::size_t c = 0; c < again.constraints.size(); ++c) {
      if (is_known(solution.constraints[c].worst))
        EXPECT_NEAR(solution.constraints[c].worst, again.constraints[c].worst, 1e-6);
      else
        all_known = false;
    }
    EXPECT_LE(had_all, all_known);
    had_all = all_known;
    // More time is never worse, unless the method itself finds less than the candidates.
    if (kept && solution.method == "frontier") {
      EXPECT_TRUE(again.satisfied());
      EXPECT_GE(solution.reward.worst, reward - 1e-6);
    }
    kept = again.satisfied();
    if (kept) reward = solution.reward.worst;
  }
}

INSTANTIATE_TEST_SUITE_P(Stop, EveryPhase,
                         ::testing::Values(Work{"frontier", finite, by_frontier},
                                           Work{"frontier_anywhere", anywhere, by_frontier},
                                           Work{"frontier_discounted", discounted, by_frontier},
                                           Work{"frontier_chance", on_a_lattice, by_frontier},
                                           Work{"frontier_chance_rounded", rounded, by_frontier},
                                           Work{"rcvi", finite, by_rcvi},
                                           Work{"rcvi_chance", on_a_lattice, by_rcvi},
                                           Work{"robust", finite, testing::by_robust}),
                         [](const auto& test) { return std::string(test.param.name); });

// After a limit, the answer that was evaluated before is returned, and nothing is computed anew.
TEST(Stop, LeavesNoWorkForAfterwards) {
  const Problem problem = make("river_swim(horizon=10,start=3)");
  double now = 0;
  const auto clock = [&] { return now += 1; };
  frontier(problem, {.tolerance = 1e-6}, {.clock = clock});
  const double limit = std::floor(now / 2);
  now = 0;
  const Solution solution =
      frontier(problem, {.tolerance = 1e-6}, {.time_limit = limit, .clock = clock});
  EXPECT_TRUE(solution.unfinished);
  EXPECT_EQ(solution.status, Status::feasible);
  EXPECT_TRUE(solution.gap());
  EXPECT_LT(now, limit + 20);
}

// With a limit, an answer is as good as what is cheap to have.
TEST(Stop, IsNeverWorseThanTheCheapPolicies) {
  for (const char* id : {"garnet(states=30,actions=3,successors=4,horizon=8,seed=1)",
                         "river_swim(horizon=10,start=3)", "river_swim(discount=0.9)"}) {
    SCOPED_TRACE(id);
    const Problem problem = make(id);
    const Solution cheap = robust(problem), budgets = rcvi(problem, {.budget_cells = 16});
    double best = -std::numeric_limits<double>::infinity();
    for (const Solution* other : {&cheap, &budgets}) {
      if (other->status != Status::violated) best = std::max(best, other->reward.worst);
    }
    double now = 0;
    const auto clock = [&] { return now += 1; };
    frontier(problem, {}, {.clock = clock});
    const Solution stopped = frontier(
        problem, {}, {.time_limit = 0.9 * now, .clock = [&, t = 0.0]() mutable { return t += 1; }});
    if (std::isfinite(best)) {
      EXPECT_TRUE(stopped.status == Status::feasible || stopped.status == Status::certified);
      EXPECT_GE(stopped.reward.worst, best - 1e-9);
    }
  }
}

}  // namespace
}  // namespace redoubt
