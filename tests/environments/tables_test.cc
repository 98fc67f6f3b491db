#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "redoubt/environments.h"
#include "support/markov_reference.h"

namespace redoubt::testing {
namespace {

Row row_of(const Model& model, State state, std::int32_t action) {
  for (Row row = model.row_begin(0, state); row < model.row_end(0, state); ++row) {
    if (model.arrays().action[row] == action) return row;
  }
  ADD_FAILURE() << "no action " << action << " in state " << state;
  return 0;
}

// Next states and their probabilities, summed over outcomes that differ in what they pay.
std::map<State, double> successors(const Model& model, State state, std::int32_t action) {
  std::map<State, double> result;
  const Row row = row_of(model, state, action);
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
    result[model.arrays().next[i]] += model.arrays().probability[i];
  return result;
}

void expect_successors(const Model& model, State state, std::int32_t action,
                       const std::map<State, double>& expected) {
  const std::map<State, double> found = successors(model, state, action);
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [next, probability] : expected) {
    ASSERT_TRUE(found.contains(next)) << "(" << state << ", " << action << ") to " << next;
    EXPECT_NEAR(found.at(next), probability, 1e-14) << state << " " << action << " " << next;
  }
}

TEST(Tables, RowsSumToOne) {
  for (const EnvironmentInfo& info : environments()) {
    const Model model = make(info.name).model();
    for (Row row = 0; row < model.rows(); ++row) {
      const double* p = model.arrays().probability.data();
      EXPECT_NEAR(std::accumulate(p + model.outcome_begin(row), p + model.outcome_end(row), 0.0), 1,
                  1e-14)
          << info.name << " " << model.row_name(row);
    }
  }
}

TEST(Tables, RiverSwim) {
  const Model model = make("river_swim").model();
  EXPECT_EQ(model.states(), 6);
  EXPECT_EQ(model.rows(), 12);
  expect_successors(model, 0, 0, {{0, .9}, {1, .1}});
  expect_successors(model, 0, 1, {{0, .7}, {1, .3}});
  for (State s = 1; s <= 4; ++s) {
    expect_successors(model, s, 0, {{s - 1, .3}, {s, .6}, {s + 1, .1}});
    expect_successors(model, s, 1, {{s - 1, .1}, {s, .6}, {s + 1, .3}});
  }
  expect_successors(model, 5, 0, {{4, .3}, {5, .7}});
  expect_successors(model, 5, 1, {{4, .1}, {5, .9}});
  const double reward[] = {.001, 0, 0, 0, .1, 1}, cost[] = {.2, .035, 0, .01, .08, .9};
  for (State s = 0; s < 6; ++s) {
    for (const int a : {0, 1}) {
      EXPECT_EQ(model.value(-1, row_of(model, s, a)), reward[s]);
      EXPECT_EQ(model.value(0, row_of(model, s, a)), cost[s]);
    }
  }
}

// Values that an independent implementation of the RNPG repository's river printed.
TEST(Tables, RiverSwimOfTheRepository) {
  const Problem problem = make("river_swim(version=repo,discount=.995,set=none)");
  const auto value = [&](int signal, const MarkovPolicy& policy) {
    return at_start(problem, nominal_values(problem, signal, policy));
  };
  const MarkovPolicy right = always(problem.model(), 1), uniform = uniform_policy(problem.model());
  EXPECT_NEAR(value(-1, right), 127.51, 0.005);
  EXPECT_NEAR(value(0, right), 44.02, 0.005);
  EXPECT_NEAR(value(-1, uniform), 18.33, 0.005);
  EXPECT_NEAR(value(0, uniform), 25.00, 0.005);
}

// The figures of reference runs with an exact KL ball of .05 and a uniform start.
TEST(Tables, RiverSwimWorstCases) {
  struct Case {
    const char* id;
    double least_cost, uniform_reward, uniform_cost, right_reward, right_cost;
  };
  for (const Case& c : {Case{"river_swim", 2.156, .784, 3.671, 1.762, 5.334},
                        Case{"river_swim(horizon=10)", 2.166, .944, 3.289, 1.745, 4.413}}) {
    SCOPED_TRACE(c.id);
    const Problem problem = make(c.id);
    const MarkovPolicy uniform = uniform_policy(problem.model());
    const MarkovPolicy right = always(problem.model(), 1);
    EXPECT_NEAR(best_value(problem, 0).value, c.least_cost, 0.0006);
    EXPECT_NEAR(worst_value(problem, -1, uniform), c.uniform_reward, 0.0006);
    EXPECT_NEAR(worst_value(problem, 0, uniform), c.uniform_cost, 0.0006);
    EXPECT_NEAR(worst_value(problem, -1, right), c.right_reward, 0.0006);
    EXPECT_NEAR(worst_value(problem, 0, right), c.right_cost, 0.0006);
  }
}

// With probability q of action b in s3, the worst reward is (1/2 - radius) + (1 - q) and the worst
// utility (1/2 - radius) + q: utility 1 needs q = 1/2 + radius.
TEST(Tables, ForkBestMarkovPolicy) {
  for (const double radius : {.05, .1, .2}) {
    const Problem problem = make("fork(radius=" + std::to_string(radius) + ")");
    const double q = 0.5 + radius;
    const MarkovPolicy policy = {1, 1, 1, 1 - q, q};
    EXPECT_NEAR(worst_value(problem, 0, policy), 1, 1e-12);
    EXPECT_NEAR(worst_value(problem, -1, policy), 1 - 2 * radius, 1e-12);
  }
}

TEST(Tables, HedgeOptimumMeetsTheBoundOnAverage) {
  const Problem problem = make("hedge");
  const Model& model = problem.model();
  MarkovPolicy policy(model.rows(), 0.0);
  policy[row_of(model, 0, 0)] = 1;
  policy[row_of(model, 1, 1)] = 1;
  policy[row_of(model, 2, 0)] = 1;
  EXPECT_EQ(worst_value(problem, -1, policy), 0.5);
  EXPECT_EQ(worst_value(problem, 0, policy), problem.constraints()[0].bound);
  EXPECT_EQ(model.row_begin(0, 3), model.row_end(0, 3));  // the end is terminal
}

}  // namespace
}  // namespace redoubt::testing
