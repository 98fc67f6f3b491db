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

TEST(Tables, MachineReplacement) {
  const Problem problem = make("machine_replacement");
  const Model& model = problem.model();
  expect_successors(model, 0, 0, {{0, .1}, {1, .2}, {2, .3}, {3, .4}});
  expect_successors(model, 1, 0, {{1, 2 / 9.}, {2, 3 / 9.}, {3, 4 / 9.}});
  expect_successors(model, 2, 0, {{2, 3 / 7.}, {3, 4 / 7.}});
  expect_successors(model, 3, 0, {{3, 1}});
  const double wear[] = {.2, .4633, .7267, .99};
  for (State s = 0; s < 4; ++s) {
    expect_successors(model, s, 1, {{0, 1}});
    EXPECT_NEAR(model.value(-1, row_of(model, s, 0)), 1 - wear[s], 5e-5);
    EXPECT_NEAR(model.value(0, row_of(model, s, 0)), wear[s], 5e-5);
    EXPECT_NEAR(model.value(-1, row_of(model, s, 1)), 0.1, 1e-15);
    EXPECT_NEAR(model.value(0, row_of(model, s, 1)), 0.6, 1e-15);
  }
  EXPECT_EQ(problem.start(), Start({0, 1, 2, 3}, {.8, .04, .05, .11}));
}

TEST(Tables, Streaming) {
  const Model model = make("streaming").model();
  EXPECT_EQ(model.states(), 11);
  expect_successors(model, 0, 0, {{0, .44}, {1, .56}});
  expect_successors(model, 5, 0, {{4, .06}, {5, .38}, {6, .56}});
  expect_successors(model, 5, 1, {{4, .14}, {5, .62}, {6, .24}});
  expect_successors(model, 10, 1, {{9, .14}, {10, .86}});
  EXPECT_EQ(model.value(-1, row_of(model, 0, 0)), 0);
  EXPECT_EQ(model.value(-1, row_of(model, 1, 1)), 1);
  EXPECT_EQ(model.value(0, row_of(model, 7, 0)), 1);
  EXPECT_EQ(model.value(0, row_of(model, 7, 1)), 0);
}

// Demand 0, 1, 2 with weights 1, 1, 1/2. Stock 0, order 1: a demand of 2 is half served.
TEST(Tables, Inventory) {
  const Model model = make("inventory(capacity=2,demand=1,price=5,delivery_cost=1)").model();
  EXPECT_EQ(model.states(), 3);
  EXPECT_EQ(model.rows(), 3 + 2 + 1);  // orders that fit
  const Row row = row_of(model, 0, 1);
  EXPECT_EQ(model.value(-1, row), -2 - 1);
  ASSERT_EQ(model.outcome_end(row) - model.outcome_begin(row), 3);
  struct Outcome {
    State next;
    double probability, reward, served;
  };
  auto i = model.outcome_begin(row);
  for (const Outcome& o : {Outcome{0, .2, 5, .5}, Outcome{0, .4, 5, 1}, Outcome{1, .4, -.2, 1}}) {
    EXPECT_EQ(model.arrays().next[i], o.next);
    EXPECT_NEAR(model.arrays().probability[i], o.probability, 1e-15);
    EXPECT_NEAR(model.outcome_value(-1, i), o.reward, 1e-15);
    EXPECT_NEAR(model.outcome_value(0, i), o.served, 1e-15);
    ++i;
  }
  EXPECT_EQ(model.value(-1, row_of(model, 1, 0)), 0);  // no order, no delivery
  expect_successors(model, 2, 0, {{0, .2}, {1, .4}, {2, .4}});
}

TEST(Tables, Grid) {
  const Model model = make("grid(size=3,hazards=1)").model();
  EXPECT_EQ(model.states(), 9);
  expect_successors(model, 4, 1, {{1, .1}, {5, .8}, {7, .1}});
  expect_successors(model, 0, 0, {{0, .9}, {1, .1}});
  expect_successors(model, 5, 2, {{8, .8}, {5, .1}, {4, .1}});
  EXPECT_EQ(model.row_begin(0, 8), model.row_end(0, 8));  // the goal is terminal
  const Row row = row_of(model, 5, 2);
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
    EXPECT_EQ(model.outcome_value(-1, i), model.arrays().next[i] == 8 ? 1 : 0);
  for (State cell = 0; cell < 8; ++cell)
    EXPECT_EQ(model.value(0, row_of(model, cell, 3)), cell == 0 ? 0 : 1);
}

// The cells of seed 0, which a second implementation in Python also draws.
TEST(Tables, GridHazardsOfSeedZero) {
  const Model model = make("grid").model();
  std::vector<State> hazards;
  for (State cell = 0; cell < 63; ++cell) {
    if (model.value(0, row_of(model, cell, 0)) == 1) hazards.push_back(cell);
  }
  EXPECT_EQ(hazards, (std::vector<State>{3, 12, 24, 39, 45, 55, 60, 62}));
}

}  // namespace
}  // namespace redoubt::testing
