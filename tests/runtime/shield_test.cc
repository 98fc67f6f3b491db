#include "redoubt/shield.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "runtime/promise_sets.h"
#include "sets/reference.h"
#include "solvers/value_iteration/value_iteration.h"
#include "support/expect_error.h"
#include "support/patience.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;
using testing::random_problem;

// What a foreign policy wants: anything with equal probability; what is worst for a constraint,
// found by looking at all that could follow; or what the best policy for the reward does.
enum class Wants { anything, harm, reward };

// The worst case of every constraint when a foreign policy acts behind a shield, exactly: all
// histories, and nature's answer to each of them by the slow reference.
class Composed {
 public:
  Composed(const Problem& problem, PromiseSets* shield, Wants wants, int harmed = 0)
      : problem_(problem), shield_(shield), wants_(wants), harmed_(harmed) {
    if (wants == Wants::reward) greedy_ = robust(problem).policy;
  }

  std::vector<double> totals() {
    std::vector<double> sum(problem_.constraints().size(), 0.0);
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      const State s = problem_.start().states[i];
      const Promise promise = shield_ ? shield_->at_start(s) : Promise();
      const std::vector<double> from = value(0, s, promise);
      for (std::size_t c = 0; c < sum.size(); ++c)
        sum[c] += problem_.start().probability[i] * from[c];
    }
    return sum;
  }

 private:
  // In the sign of a utility.
  std::vector<double> value(int h, State s, const Promise& promise) {
    const Model& model = problem_.model();
    std::vector<double> found(problem_.constraints().size(), 0.0);
    if (h == problem_.horizon()) return found;
    const auto actions = static_cast<std::int32_t>(model.row_end(h, s) - model.row_begin(h, s));
    if (actions == 0) return found;
    if (wants_ == Wants::reward) {
      std::int32_t wanted = 0;
      for_each_choice(greedy_.at(h), greedy_.at(h).begin(s),
                      [&](std::int32_t a, double) { wanted = a; });
      return wanting(h, s, promise, wanted);
    }
    for (std::int32_t a = 0; a < actions; ++a) {
      const std::vector<double> one = wanting(h, s, promise, a);
      if (wants_ == Wants::anything) {
        for (std::size_t c = 0; c < one.size(); ++c) found[c] += one[c] / actions;
      } else if (a == 0 || one[harmed_] < found[harmed_]) {
        found = one;
      }
    }
    return found;
  }

  std::vector<double> wanting(int h, State s, const Promise& promise, std::int32_t wanted) {
    std::vector<double> sum(problem_.constraints().size(), 0.0);
    std::vector<ShieldBranch> branches = {{1.0, wanted, {}, {}}};
    if (shield_) branches = shield_->propose(h, s, promise, wanted);
    for (const ShieldBranch& branch : branches) {
      const std::vector<double> worth = row(h, s, branch);
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += branch.probability * worth[c];
    }
    return sum;
  }

  std::vector<double> row(int h, State s, const ShieldBranch& branch) {
    const Model& model = problem_.model();
    const Row row = model.row_begin(h, s) + branch.action;
    const auto begin = model.outcome_begin(row), outcomes = model.outcome_end(row) - begin;
    std::vector<std::vector<double>> next, landing;
    const auto follow = [&](std::int64_t i, State to) {
      return value(h + 1, to, shield_ ? shield_->after(h, s, branch, i, to) : Promise());
    };
    for (std::int64_t i = 0; i < outcomes; ++i)
      next.push_back(follow(i, model.arrays().next[begin + i]));
    std::vector<double> worth;
    for (std::size_t c = 0; c < problem_.constraints().size(); ++c) {
      const Channel channel = channel_of(problem_, static_cast<int>(c));
      ReferenceRow one;
      one.radius = nature_of_rows(problem_).radius_of(row);
      for (std::int64_t i = 0; i < outcomes; ++i) {
        one.probability.push_back(model.arrays().probability[begin + i]);
        one.value.push_back(problem_.discount() * next[i][c] +
                            channel.sign * model.outcome_value(channel.signal, begin + i));
        if (model.arrays().lower.empty()) continue;
        one.lower.push_back(model.arrays().lower[begin + i]);
        one.upper.push_back(model.arrays().upper[begin + i]);
      }
      for (State to = 0; to < model.states() && lands_anywhere(problem_); ++to) {
        if (model.lists(row, to)) continue;
        const long double there = problem_.discount() * follow(outcomes, to)[c] +
                                  channel.sign * model.arrival_value(channel.signal, to);
        one.floor = one.floor ? std::min(*one.floor, there) : there;
      }
      worth.push_back(static_cast<double>(channel.sign * model.value(channel.signal, row) +
                                          reference_worst_case(problem_.uncertainty(), one)));
    }
    return worth;
  }

  const Problem& problem_;
  PromiseSets* shield_;
  Wants wants_;
  std::size_t harmed_;
  Policy greedy_;
};

// Bounds between what policies can have, so that they can be met and bind.
Problem with_bounds(const Problem& problem, double share) {
  Terms terms = problem.terms();
  for (std::size_t c = 0; c < terms.constraints.size(); ++c) {
    const AchievableRange range = achievable_range(problem, static_cast<int>(c));
    terms.constraints[c].bound = range.best + share * (range.worst - range.best);
  }
  return problem.with(terms);
}

testing::RandomOptions small(std::uint64_t seed) {
  const Uncertainty sets[] = {KL{0.1}, TV{0.15, Reach::support}, Chi2{0.2}, Interval{}, Nominal{},
                              TV{0.1}};
  testing::RandomOptions options{.states = 3, .actions = 2, .successors = 2, .horizon = 3};
  options.uncertainty = sets[seed % 6];
  if (seed % 6 == 5) options.horizon = 2;  // every landing is looked at
  options.constraints = options.signals = seed % 4 == 3 ? 2 : 1;
  options.discount = seed % 5 == 4 ? 0.9 : 1.0;
  options.random_start = seed % 3 == 1;
  options.outcome_values = seed % 7 == 2;
  options.stage_dependent = seed % 11 == 5;
  options.terminal = seed % 13 == 6;
  return options;
}

double missed(const Problem& problem, const std::vector<double>& totals) {
  double most = -1e300;
  for (std::size_t c = 0; c < totals.size(); ++c) {
    const double sign = channel_of(problem, static_cast<int>(c)).sign;
    most = std::max(most, sign * problem.constraints()[c].bound - totals[c]);
  }
  return most;
}

TEST(Shield, KeepsEveryConstraintForAnyForeignPolicy) {
  const int wanted = testing::cases(1000);
  int problems = 0, broken_without = 0;
  for (std::uint64_t seed = 0; problems < wanted; ++seed) {
    const Problem problem = with_bounds(random_problem(seed, small(seed)), seed % 2 ? 0.4 : 0.15);
    const Solution solution = frontier(problem, {.tolerance = 1e-2});
    if (solution.status != Status::certified && solution.status != Status::feasible) continue;
    ++problems;
    PromiseSets shield(problem, solution.policy, {});
    const int harmed = static_cast<int>(seed / 4 % problem.constraints().size());
    for (const Wants wants : {Wants::anything, Wants::harm, Wants::reward}) {
      const std::vector<double> totals = Composed(problem, &shield, wants, harmed).totals();
      EXPECT_LE(missed(problem, totals), 1e-9) << "seed " << seed;
    }
    broken_without += missed(problem, Composed(problem, nullptr, Wants::harm, harmed).totals()) > 0;
  }
  EXPECT_GE(broken_without, testing::cases(951));  // the test can fail
}

// With one constraint, the best policy for it decides: with M promised at most, and Q at most when
// the action is taken, probability q leaves q Q + (1 - q) M.
TEST(Shield, TheLargestProbabilityCannotBeLarger) {
  int between = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    testing::RandomOptions options = small(seed);
    options.constraints = options.signals = 1;
    const Problem problem = with_bounds(random_problem(seed, options), 0.1);
    const Solution solution = frontier(problem);
    if (solution.status != Status::certified) continue;
    PromiseSets shield(problem, solution.policy, {});
    Terms terms = problem.terms();
    const Channel channel = channel_of(problem, 0);
    Workers workers{Execution{}};
    const ValueIteration best = value_iteration(problem, channel, workers);
    const EvaluationPass pass = evaluate(problem, best.policy, workers, true);
    const State s = problem.start().states[0];
    const Promise promise = shield.at_start(s);
    const double most = pass.values[0][problem.model().states() + s];
    RowEvaluator rows(problem);
    for (Row row = problem.model().row_begin(0, s); row < problem.model().row_end(0, s); ++row) {
      const auto action = static_cast<std::int32_t>(row - problem.model().row_begin(0, s));
      const double q = shield.largest(0, s, promise, action);
      std::vector<std::vector<double>> lanes;
      std::vector<const double*> next;
      double floor[kLaneBlock], value[kLaneBlock], low = 1e300;
      const Model& model = problem.model();
      for (State to = 0; to < model.states(); ++to) {
        if (!model.lists(row, to))
          low = std::min(low,
                         pass.values[1][model.states() + to] + arrival_worth(problem, channel, to));
      }
      std::fill_n(floor, kLaneBlock, low);
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        lanes.emplace_back(kLaneBlock, pass.values[1][model.states() + model.arrays().next[i]]);
      for (const auto& lane : lanes) next.push_back(lane.data());
      rows.worst(row, {&channel, 1}, 1, next.data(),
                 rows.needs_floor() && low < 1e300 ? floor : nullptr, value);
      const double expected =
          value[0] >= promise[0] - 1e-12 ? 1.0 : (most - promise[0]) / (most - value[0]);
      EXPECT_NEAR(q, expected, 1e-8) << "seed " << seed;
      between += q > 0 && q < 1;
    }
  }
  EXPECT_GT(between, 10);
}

TEST(Shield, RunsEpisodesAndCountsCorrections) {
  const Problem problem = with_bounds(random_problem(3), 0.1);
  const Policy policy = frontier(problem).policy;
  Shield shield(problem, policy, 1);
  for (int episode = 0; episode < 50; ++episode) {
    shield.start();
    State state = problem.start().states[0];
    while (!shield.ended()) {
      const std::vector<Permission> allowed = shield.allowed(state);
      ASSERT_FALSE(allowed.empty());
      const std::int32_t wanted = (episode + shield.stage()) % 3;
      const std::int32_t action = shield.take(wanted);
      for (const Permission& p : allowed) {
        EXPECT_TRUE(p.action != wanted || p.largest < 1 || action == wanted);
      }
      const Row row = problem.model().row_begin(shield.stage(), state) + action;
      const auto first = problem.model().outcome_begin(row);
      state = problem.model().arrays().next[first + episode % 3];
      shield.observe(state);
    }
  }
  EXPECT_EQ(shield.steps(), 50 * 5);
  EXPECT_GT(shield.corrected(), 0);
  EXPECT_LT(shield.corrected(), shield.steps());
}

TEST(Shield, ErrorsChangeNothing) {
  const Problem problem = with_bounds(random_problem(3), 0.3);
  const Policy policy = frontier(problem).policy;
  Shield shield(problem, policy);
  EXPECT_EQ(error_of([&] { shield.take(0); }), "no state is known yet; call allowed first");
  EXPECT_EQ(error_of([&] { shield.allowed(4); }), "state 4, no episode begins there");
  EXPECT_TRUE(shield.promise().empty());
  shield.allowed(0);
  EXPECT_EQ(shield.promise().size(), 1u);
  EXPECT_EQ(error_of([&] { shield.take(9); }), "action 9, state 0 has no such action");
  EXPECT_EQ(error_of([&] { shield.observe(1); }),
            "nothing was done since the last observation; call take first");
  EXPECT_EQ(shield.steps(), 0);
}

TEST(Shield, StandsOnAPolicyThatKeepsTheConstraints) {
  const Problem problem = with_bounds(random_problem(3), 0.01);
  const Policy policy = robust(problem).policy;
  EXPECT_NE(error_of([&] { Shield(problem, policy); }).find("a shield stands on a policy"),
            std::string::npos);
  Terms terms = problem.terms();
  terms.uncertainty = Tilt{0.5};
  const Problem tilted = problem.with(terms);
  EXPECT_NE(error_of([&] { Shield(tilted, policy); }).find("set tilt"), std::string::npos);
  terms = problem.terms();
  terms.constraints[0].probability = 0.5;
  const Problem chance = problem.with(terms);
  EXPECT_NE(error_of([&] { Shield(chance, policy); }).find("chance constraint"), std::string::npos);
}

}  // namespace
}  // namespace redoubt
