#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/estimate.h"
#include "support/expect_error.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

TEST(Recorded, CountsTransitions) {
  const Estimate found = read_recorded(
      "state,action,next,reward,cost\n"
      "0,0,1,2,0.5\n0,0,0,2,0.5\n0,0,1,2,0.5\n1,0,1,0,0.25\n0,1,0,1,0\n0,1,0,3,0\n1,1,0,0,0\n",
      "log.csv");
  EXPECT_EQ(found.visits, (std::vector<std::int64_t>{3, 2, 1, 1}));
  EXPECT_EQ(found.counts, (std::vector<std::int64_t>{1, 2, 1, 1, 1, 1}));
  EXPECT_EQ(found.model.arrays().probability[1], 2.0 / 3);
  EXPECT_EQ(found.model.value(-1, 0), 2);
  EXPECT_EQ(found.model.value(0, 0), 0.5);
  EXPECT_EQ(found.model.outcome_value(-1, 2), 1);  // rewards 1 and 3 of (state 0, action 1)
  EXPECT_EQ(found.model.outcome_value(-1, 3), 3);
  EXPECT_EQ(found.queries, 0);
}

TEST(Recorded, AColumnWithoutANameIsTheRowNumberOfADataFrame) {
  const Estimate found = read_recorded(",state,action,next,cost\n0,0,0,1,2\n1,1,0,0,3\n", "log.csv",
                                       {.objective = {.none = true}});
  ASSERT_EQ(found.model.signals(), 1);
  EXPECT_EQ(found.model.arrays().signals[0].name, "cost");
  EXPECT_EQ(found.model.value(0, 1), 3);
}

TEST(Recorded, StagesAndTerminalStates) {
  const Estimate found = read_recorded("stage,state,action,next,reward\n0,0,0,1,0\n1,0,0,0,0\n",
                                       "log.csv", {.terminal = {1}});
  EXPECT_EQ(found.model.stages(), 2);
  EXPECT_EQ(found.model.rows(), 2);
  EXPECT_EQ(found.terms.horizon, 2);
  EXPECT_EQ(error_of([] {
              read_recorded("state,action,next\n0,0,1\n1,0,1\n", "log.csv",
                            {.terminal = {1}, .objective = {.none = true}});
            }),
            "log.csv: line 3: an action in terminal state 1, must be none");
}

TEST(Recorded, RowsWithoutSamplesAreListed) {
  const std::string text = "state,action,next\n0,0,1\n1,1,0\n";
  EXPECT_EQ(
      error_of([&] { read_recorded(text, "log.csv", {.states = 3, .objective = {.none = true}}); }),
      "log.csv: no samples of 4 of 6 rows: (state 0, action 1), (state 1, action 0), (state 2, "
      "action 0), (state 2, action 1); every row must have some, or unvisited must be simplex");
}

TEST(Recorded, RowsWithoutSamplesMayDoAnything) {
  const Estimate found =
      read_recorded("state,action,next,reward,cost\n0,0,1,2,1\n0,0,0,2,1\n1,1,0,5,3\n0,1,0,4,2\n",
                    "log.csv", {.unvisited = Unvisited::simplex});
  ASSERT_EQ(found.unvisited, std::vector<Row>{2});
  const Model& model = found.model;
  ASSERT_EQ(model.outcome_end(2) - model.outcome_begin(2), 4);  // two states, least and most
  EXPECT_EQ(model.outcome_value(-1, model.outcome_begin(2)), 2);
  EXPECT_EQ(model.outcome_value(0, model.outcome_begin(2) + 1), 3);
  Terms terms;
  terms.horizon = 2;
  terms.uncertainty = KL{0.05};
  const auto radii = [&](const Uncertainty& set) {
    terms.uncertainty = set;
    const Problem problem = estimated_problem(found, terms);
    return std::visit(
        [](const auto& s) -> std::vector<double> {
          if constexpr (requires { s.radius; }) return s.radius.rows;
          return {};
        },
        problem.uncertainty());
  };
  EXPECT_NEAR(radii(KL{0.05})[2], std::log(4), 1e-9);
  EXPECT_NEAR(radii(Chi2{0.05})[2], 3, 1e-9);
  EXPECT_EQ(radii(TV{0.05})[2], 1);
  EXPECT_EQ(radii(TV{0.05})[1], 0.05);
  terms.uncertainty = Nominal{};
  EXPECT_EQ(error_of([&] { estimated_problem(found, terms); }),
            "set none with rows that have no samples, must be tv, chi2 or kl");
}

TEST(Recorded, TheRewardIsAColumnThatIsChosen) {
  const std::string text = "state,action,next,time,energy\n0,0,0,1,2\n0,0,0,3,2\n";
  EXPECT_EQ(error_of([&] { read_recorded(text, "log.csv"); }),
            "log.csv: no column is called reward, must be chosen: reward NAME or minimise NAME, of "
            "time, energy; reward none says that there is none");
  EXPECT_EQ(error_of([&] { read_recorded(text, "log.csv", {.objective = {.signal = "fuel"}}); }),
            "log.csv: reward 'fuel', must be a column: time, energy");
  const auto reward = [&](const Objective& objective) {
    return read_recorded(text, "log.csv", {.objective = objective}).model;
  };
  EXPECT_EQ(reward({.signal = "energy"}).value(-1, 0), 2);
  EXPECT_EQ(reward({.signal = "energy"}).signals(), 2);  // it stays a signal
  EXPECT_EQ(reward({.signal = "time", .minimise = true}).outcome_value(-1, 0), -3);
  EXPECT_TRUE(reward({.none = true}).arrays().reward.empty());
}

TEST(Recorded, BadFilesNameTheLine) {
  const auto error = [](const std::string& text, RecordedOptions options = {}) {
    options.objective.none = true;
    return error_of([&] { read_recorded(text, "log.csv", options); });
  };
  EXPECT_EQ(error(""), "log.csv: is empty, must begin with a header line");
  EXPECT_EQ(error("state,next\n0,0\n"),
            "log.csv: line 1: column 'action' is missing, must be given");
  EXPECT_EQ(error("state,action,next\n"), "log.csv: has no transitions, must have at least one");
  EXPECT_EQ(error("state,action,next\n0,0,0\n0,x,0\n"),
            "log.csv: line 3: action = x, must be a finite number");
  EXPECT_THAT(error("state,action,next\n0,0.5,0\n"),
              HasSubstr("line 2: action = 0.5, must be a whole number"));
  EXPECT_EQ(error("state,action,next\n0,0\n"), "log.csv: line 2: 2 fields, must be 3");
  EXPECT_EQ(error("state,action,next\n0,0,4\n", {.states = 3}),
            "log.csv: states = 3, must be at least 5: the data have that many");
  EXPECT_THAT(error("state,action,next\n0,0,2000000000\n"), HasSubstr("must be at most"));
}

}  // namespace
}  // namespace redoubt
