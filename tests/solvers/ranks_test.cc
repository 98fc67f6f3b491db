// One problem, solved by any number of ranks and threads: the same bits.
#include <gtest/gtest.h>

#include "evaluation/satisfied.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/methods.h"
#include "support/on_ranks.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;
using testing::expect_same_evaluation;
using testing::expect_same_on_ranks;
using ::testing::HasSubstr;
using testing::kEverySet;
using testing::RandomOptions;

// Large enough that messages are sent in several slices, and different in each of these ways.
RandomOptions shape(std::uint64_t seed, const Uncertainty& set) {
  RandomOptions o;
  o.states = seed == 0 ? 300 : 23;
  o.actions = 3;
  o.horizon = 4;
  o.uncertainty = set;
  return testing::shaped(o, seed);
}

class Ranks : public ::testing::TestWithParam<int> {
 protected:
  const Uncertainty& set() const { return kEverySet[GetParam()]; }
};

TEST_P(Ranks, DoNotChangeRcvi) {
  for (std::uint64_t seed = 0; seed < 16; seed += seed < 2 ? 1 : 3) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::random_problem(seed, shape(seed, set()));
    expect_same_on_ranks(problem, [](const Problem& p, const Execution& e) {
      return rcvi(p, {.budget_cells = 20}, e);
    });
  }
}

TEST_P(Ranks, DoNotChangeADiscountedOrRoundedRcvi) {
  RandomOptions options = shape(9, set());
  options.discount = 0.9;
  const Problem discounted = testing::random_problem(9, options);
  const Problem undiscounted = testing::random_problem(1, shape(1, set()));
  for (const Problem& problem : {discounted, undiscounted}) {
    for (const Fallback fallback : {Fallback::reward, Fallback::utility}) {
      expect_same_on_ranks(problem, [&](const Problem& p, const Execution& e) {
        return rcvi(p, {.fallback = fallback, .budget_step = 0.13}, e);
      });
    }
  }
}

// Every decision ends the episode with at least a tenth, so that every policy does.
Problem without_horizon(std::uint64_t seed, const Uncertainty& set) {
  RandomOptions options = shape(seed, set);
  options.states = 40;
  const Problem finite = testing::random_problem(seed, options);
  ModelArrays arrays = finite.model().arrays();
  if (arrays.stages > 1) return finite;
  const State end = arrays.states++;
  ModelBuilder builder(arrays.states, {"cost"});
  for (State s = 0; s < end; ++s) {
    for (Row row = finite.model().row_begin(0, s); row < finite.model().row_end(0, s); ++row) {
      ModelBuilder::RowData data{.reward = finite.model().value(-1, row), .signals = {1.0}};
      for (auto i = finite.model().outcome_begin(row); i < finite.model().outcome_end(row); ++i)
        data.outcomes.push_back(
            {.next = arrays.next[i], .probability = 0.6 * arrays.probability[i]});
      data.outcomes.push_back({.next = end, .probability = 0.4});
      builder.add(0, s, arrays.action[row], data);
    }
  }
  return {builder.build(), {.constraints = {at_most("cost", 2.4)}, .uncertainty = set}};
}

TEST(RanksWithoutHorizon, DoNotChangeAnAnswer) {
  for (const Uncertainty& set :
       {Uncertainty(Nominal{}), Uncertainty(KL{0.05}), Uncertainty(TV{0.1, Reach::support})}) {
    const Problem problem = without_horizon(1, set);
    ASSERT_TRUE(problem.undiscounted());
    expect_same_on_ranks(problem, testing::by_robust);
    expect_same_on_ranks(problem, [](const Problem& p, const Execution& e) {
      return rcvi(p, {.budget_cells = 10}, e);
    });
    expect_same_on_ranks(problem, [](const Problem& p, const Execution& e) {
      return frontier(p, {.tolerance = 0.02}, e);
    });
  }
}

TEST_P(Ranks, DoNotChangeSeveralConstraints) {
  RandomOptions options = shape(3, set());
  options.signals = options.constraints = 2;
  options.states = 9;
  options.horizon = 3;
  const Problem problem = testing::random_problem(3, options);
  for (const Rounding rounding : {Rounding::up, Rounding::mixed}) {
    expect_same_on_ranks(problem, [&](const Problem& p, const Execution& e) {
      return rcvi(p, {.budget_cells = 6, .rounding = rounding}, e);
    });
  }
}

// Where budgets are drawn, the worst landing is one of all states for everything that rows earn.
TEST_P(Ranks, DoNotChangeADrawnBudget) {
  for (const std::uint64_t seed : {1, 5, 14}) {
    SCOPED_TRACE(seed);
    RandomOptions options = shape(seed, set());
    for (const double discount : {1.0, 0.9}) {
      options.discount = discount;
      const Problem problem = testing::random_problem(seed, options);
      expect_same_on_ranks(problem, [](const Problem& p, const Execution& e) {
        return rcvi(p, {.budget_step = 0.13, .rounding = Rounding::mixed}, e);
      });
    }
  }
}

TEST_P(Ranks, DoNotChangeAnInfiniteHorizon) {
  RandomOptions options = shape(8, set());
  options.horizon.reset();
  options.discount = 0.8;
  const Problem problem = testing::random_problem(3, options);
  expect_same_on_ranks(problem, [](const Problem& p, const Execution& e) {
    return rcvi(p, {.budget_cells = 10, .tolerance = 1e-2}, e);
  });
  expect_same_on_ranks(problem, testing::by_robust);
}

TEST_P(Ranks, DoNotChangeValueIteration) {
  for (const std::uint64_t seed : {0, 7, 14}) {
    const Problem problem = testing::random_problem(seed, shape(seed, set()));
    expect_same_on_ranks(problem, testing::by_robust);
    expect_same_on_ranks(problem, testing::by_nominal);
  }
}

Solution run_frontier(const Problem& problem, const Execution& execution) {
  return frontier(problem, {.tolerance = 1e-3}, execution);
}

TEST_P(Ranks, DoNotChangeFrontier) {
  if (std::holds_alternative<Tilt>(set())) return;
  // Where nature may land anywhere, ranks talk more than they compute.
  const auto* tv = std::get_if<TV>(&set());
  const bool anywhere = tv && tv->reach == Reach::anywhere;
  for (const std::uint64_t seed : {1, 4, 6}) {
    if (anywhere && seed != 4) continue;
    SCOPED_TRACE(seed);
    RandomOptions options = shape(seed, set());
    options.states = anywhere ? 6 : 11;
    expect_same_on_ranks(testing::random_problem(seed, options), run_frontier);
    options.horizon.reset();
    options.stage_dependent = false;
    options.discount = 0.7;
    expect_same_on_ranks(testing::random_problem(seed, options), run_frontier);
  }
  RandomOptions options = shape(2, set());
  options.states = 7;
  options.horizon = 3;
  options.signals = options.constraints = 2;
  expect_same_on_ranks(testing::random_problem(2, options), run_frontier);
  options.states = 5;
  options.horizon.reset();
  options.stage_dependent = false;
  options.discount = 0.6;
  expect_same_on_ranks(testing::random_problem(2, options),
                       [](const Problem& problem, const Execution& execution) {
                         return frontier(problem, {.tolerance = 5e-2}, execution);
                       });
}

TEST_P(Ranks, DoNotChangeAnEvaluation) {
  for (const std::uint64_t seed : {0, 5, 9}) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::random_problem(seed, shape(seed, set()));
    for (const Policy& policy : {testing::random_markov_policy(1, problem),
                                 testing::random_budget_policy(2, problem, Rounding::up),
                                 testing::random_budget_policy(2, problem, Rounding::mixed),
                                 testing::random_table_policy(3, problem)})
      expect_same_evaluation(problem, policy);
  }
  RandomOptions options = shape(5, set());
  options.horizon.reset();
  options.stage_dependent = false;
  options.discount = 0.7;
  const Problem endless = testing::random_problem(5, options);
  expect_same_evaluation(endless, testing::random_table_policy(4, endless));
}

// What is wrong with the part of one rank is told by all.
TEST(Ranks, CheckWhatTheyEvaluate) {
  for (const Uncertainty& set : {Uncertainty{KL{0.1}}, Uncertainty{TV{0.1}}}) {
    const Problem problem = testing::random_problem(4, shape(4, set));
    const Policy good = testing::random_table_policy(1, problem);
    const auto wrong_on_ranks = [&](const Policy& policy) {
      const auto stored = testing::stored_parts(problem, policy, {3, 1});
      return error_of([&] {
        testing::solve_on_ranks(problem, {3, 1}, [&](const Problem& p, const Execution& e) {
          evaluate(p, stored[e.ranks->rank()], e);
          return Solution{};
        });
      });
    };
    const auto expect_same_error = [&](const Policy& policy) {
      const std::string error = error_of([&] { check_policy(problem, policy); });
      EXPECT_THAT(error, HasSubstr("of the policy"));
      EXPECT_EQ(wrong_on_ranks(policy), error);
    };
    Policy policy = good;
    policy.stages[0].moves.front().memory = 7;
    expect_same_error(policy);
    policy = good;
    policy.stages[1].choice_weight.back() *= 0.5;
    expect_same_error(policy);
    policy = good;
    policy.start_moves.front().memory = 9;
    expect_same_error(policy);
    if (std::holds_alternative<KL>(set)) continue;
    policy = good;
    policy.stages[1].landing_moves.back().weight *= 0.5;
    expect_same_error(policy);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Ranks, ::testing::Range(0, static_cast<int>(kEverySet.size())));

// A bound of zero is judged by the largest value of its signal, which one rank has.
TEST(Ranks, AgreeOnWhatABoundOfZeroAllows) {
  ModelBuilder builder(3, {"cost"});
  builder.add(0, 0, 0, {0, {0.0}, {{1, 1.0}}});
  builder.add(0, 1, 0, {0, {2e-4}, {{2, 1.0}}});  // all that the start leads to
  builder.add(0, 2, 0, {0, {0.0}, {{2, 1.0}}});
  const auto problem_with = [&](double elsewhere) {
    ModelBuilder more = builder;
    more.add(0, 2, 1, {-1, {elsewhere}, {{2, 1.0}}});
    return Problem(more.build(), {.horizon = 2, .constraints = {at_most("cost", 0.0)}});
  };
  for (const double elsewhere : {1e4, 1e6}) {
    const Problem problem = problem_with(elsewhere);
    EXPECT_EQ(robust(problem).constraints[0].satisfied, elsewhere == 1e6);
    EXPECT_DOUBLE_EQ(allowed_misses(problem)[0], 1e-9 * elsewhere);
    expect_same_on_ranks(problem, testing::by_robust);
  }
}

TEST(Ranks, MoreThanStates) {
  RandomOptions options;
  options.states = 2;
  const Problem problem = testing::random_problem(1, options);
  expect_same_on_ranks(problem,
                       [](const Problem& p, const Execution& e) { return rcvi(p, {}, e); });
}

TEST(Ranks, StopTogether) {
  const Problem problem = testing::random_problem(1, shape(1, KL{0.1}));
  const auto parts =
      testing::solve_on_ranks(problem, {3, 1}, [](const Problem& part, Execution execution) {
        if (part.model().arrays().submodel->rank == 1)
          execution.progress = [](double done) { return done < 0.5; };
        return rcvi(part, {}, execution);
      });
  for (const Solution& part : parts) EXPECT_TRUE(part.unfinished);
}

TEST(Ranks, RefuseAPartAlone) {
  const Problem problem = testing::random_problem(1, shape(1, TV{0.1}));
  const Problem part = subproblem(problem, balanced_blocks(problem.model(), 2), 0);
  EXPECT_THAT(error_of([&] { rcvi(part); }), HasSubstr("a problem in 2 parts on 1 ranks"));
}

}  // namespace
}  // namespace redoubt
