#include "redoubt/model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// State 0 has actions 0 and 2, state 1 is terminal.
ModelArrays small() {
  ModelArrays a;
  a.states = 2;
  a.state_rows = {0, 2, 2};
  a.action = {0, 2};
  a.row_outcomes = {0, 2, 3};
  a.next = {0, 1, 1};
  a.probability = {0.25, 0.75, 1};
  a.reward = {1, 2};
  a.signals = {{"cost", {3, 4}, {0, 5, 6}}};
  return a;
}

// The model of arrays whose outcomes live elsewhere.
Model from_views(ModelArrays a) {
  const std::vector<State> next = std::exchange(a.next, {});
  const std::vector<double> probability = std::exchange(a.probability, {});
  return Model(std::move(a), {{}, next, probability, {}, {}});
}

template <class Change>
std::string error_after(Change change) {
  ModelArrays a = small();
  change(a);
  const std::string error = error_of([&] { Model{a}; });
  EXPECT_EQ(error_of([&] { from_views(a); }), error);
  return error;
}

TEST(Model, LabelsAreSets) {
  ModelArrays a = small();
  a.labels = {{"all", {1, 0, 1}}, {"none", {}}};
  const Model m(std::move(a));
  EXPECT_EQ(m.find_label("all")->states, (std::vector<State>{0, 1}));
  EXPECT_TRUE(m.find_label("none")->states.empty());
  EXPECT_EQ(m.find_label("some"), nullptr);
}

TEST(Model, AnswersWhatItWasBuiltFrom) {
  const Model m(small());
  EXPECT_EQ(m.states(), 2);
  EXPECT_EQ(m.rows(), 2);
  EXPECT_EQ(m.outcomes(), 3);
  EXPECT_EQ(m.actions(), 3);  // one more than the largest number
  EXPECT_EQ(m.most_actions(), 2);
  EXPECT_EQ(m.most_outcomes(), 2);
  EXPECT_EQ(m.row_end(0, 0), 2);
  EXPECT_EQ(m.row_begin(0, 1), m.row_end(0, 1));
  EXPECT_EQ(m.row_begin(9, 1), m.row_begin(0, 1));  // the same at every stage
  EXPECT_EQ(m.value(-1, 1), 2);
  EXPECT_EQ(m.value(0, 1), 4);
  EXPECT_EQ(m.outcome_value(-1, 1), 0);
  EXPECT_EQ(m.outcome_value(0, 2), 6);
  EXPECT_EQ(m.signal_index("cost"), 0);
  EXPECT_EQ(m.signal_index("reward"), -1);
  EXPECT_EQ(m.row_name(1), "(state 0, action 2)");
  EXPECT_EQ(m.arrays(), small());
}

TEST(Model, NamesAppearInRowNames) {
  ModelArrays a = small();
  a.state_names = {"dry", "wet"};
  a.action_names = {"wait", "swim", "dive"};
  EXPECT_EQ(Model(a).row_name(1), "(state dry, action dive)");
}

TEST(Model, DropsImpossibleOutcomes) {
  ModelArrays a = small();
  a.probability = {0, 1, 1};
  const Model m(a);
  EXPECT_EQ(m.outcomes(), 2);
  EXPECT_EQ(m.arrays().next, (std::vector<State>{1, 1}));
  EXPECT_EQ(m.arrays().signals[0].outcome, (std::vector<double>{5, 6}));
}

TEST(Model, MergesEqualOutcomesOnly) {
  ModelArrays a = small();
  a.row_outcomes = {0, 5, 6};
  a.next = {1, 0, 1, 0, 1, 1};
  a.probability = {0.125, 0.25, 0.25, 0.125, 0.25, 1};
  a.signals[0].outcome = {7, 9, 7, 0, 5, 6};
  const Model m(a);
  // By next state, then value; to state 1, the two of value 7 are one outcome.
  EXPECT_EQ(m.arrays().next, (std::vector<State>{0, 0, 1, 1, 1}));
  EXPECT_EQ(m.arrays().probability, (std::vector{0.125, 0.25, 0.25, 0.375, 1.0}));
  EXPECT_EQ(m.arrays().signals[0].outcome, (std::vector<double>{0, 9, 5, 7, 6}));
  EXPECT_EQ(m.arrays().row_outcomes, (std::vector<std::int64_t>{0, 4, 5}));
}

TEST(Model, MergedBoundsAdd) {
  ModelArrays a = small();
  a.signals.clear();
  a.next = {1, 1, 1};
  a.lower = {0.25, 0.5, 1};
  a.upper = {0.75, 0.75, 1};
  const Model m(a);
  EXPECT_EQ(m.arrays().lower, (std::vector{0.75, 1.0}));
  EXPECT_EQ(m.arrays().upper, (std::vector{1.0, 1.0}));  // at most certain
}

TEST(Model, OutcomesThatOnlyNatureCanReachStay) {
  ModelArrays a = small();
  a.probability = {0, 1, 1};
  a.lower = {0, 0.5, 1};
  a.upper = {0.5, 1, 1};
  EXPECT_EQ(Model(a).outcomes(), 3);
}

TEST(Model, RowsThatAlmostSumToOneAreScaled) {
  ModelArrays a = small();
  a.probability = {0.25 + 1e-10, 0.75, 1};
  const Model m(a);
  EXPECT_NEAR(m.arrays().probability[0] + m.arrays().probability[1], 1, 4e-16);
  EXPECT_EQ(m.arrays().probability[2], 1);
}

TEST(Model, ZeroValuesAreLeftOut) {
  ModelArrays a = small();
  a.reward = {0, -0.0};
  a.outcome_reward = {0, 0, 0};
  a.signals[0].row = {0, 0};
  const Model m(a);
  EXPECT_TRUE(m.arrays().reward.empty());
  EXPECT_TRUE(m.arrays().outcome_reward.empty());
  EXPECT_TRUE(m.arrays().signals[0].row.empty());
  EXPECT_EQ(m.value(0, 1), 0);
}

TEST(Model, OutcomesEarnWhatTheirArrivalDoes) {
  ModelArrays a = small();
  a.signals[0].outcome.clear();
  a.signals[0].arrival = {0, 2};
  const Model m(a);
  for (std::int64_t i = 0; i < m.outcomes(); ++i)
    EXPECT_EQ(m.outcome_value(0, i), m.arrays().next[i] == 1 ? 2 : 0);
  EXPECT_EQ(m.arrival_value(0, 1), 2);
  EXPECT_EQ(m.arrival_value(-1, 1), 0);
  for (Row row = 0; row < m.rows(); ++row) {
    for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i)
      EXPECT_TRUE(m.lists(row, m.arrays().next[i]));
  }
  EXPECT_EQ(Model(m.arrays()), m);
  // Outcomes that say something else keep it, also when it is nothing: they are no plain arrivals.
  a.signals[0].outcome.assign(a.next.size(), 0.0);
  const Model silent(a);
  EXPECT_EQ(silent.outcome_value(0, 0), 0);
  EXPECT_FALSE(silent.lists(0, 1));
  EXPECT_EQ(Model(silent.arrays()), silent);
}

TEST(Model, ArrivalsAreCheckedAndLeftOutWhereTheyEarnNothing) {
  ModelArrays a = small();
  a.arrival_reward = {0, 0};
  EXPECT_TRUE(Model(a).arrays().arrival_reward.empty());
  a.arrival_reward = {0, 1, 0};
  EXPECT_EQ(error_of([&] { Model{a}; }), "arrival_reward has 3 values, must have 2 or none");
  a.arrival_reward = {0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(error_of([&] { Model{a}; }), "reward of arrivals in state 1 is inf, must be finite");
}

RC_GTEST_PROP(Model, BuildingAgainChangesNoBit, (std::uint64_t seed)) {
  // Rows of thirds and sevenths that no double holds, scaled off one within the tolerance.
  ModelArrays a = testing::random_model(seed, testing::random_options(seed)).arrays();
  const double off = 1 + *rc::gen::inRange(-900, 900) * 1e-12;
  if (a.lower.empty())
    for (double& p : a.probability) p = std::min(1.0, p * off);
  const Model once(a);
  RC_ASSERT(Model(once.arrays()) == once);
}

RC_GTEST_PROP(Model, TheOrderOfOutcomesDoesNotMatter, (std::uint64_t seed)) {
  const Model m = testing::random_model(seed, testing::random_options(seed));
  ModelArrays a = m.arrays();
  const auto reverse_rows = [&](auto& values) {
    for (Row r = 0; r < m.rows() && !values.empty(); ++r)
      std::reverse(values.begin() + a.row_outcomes[r], values.begin() + a.row_outcomes[r + 1]);
  };
  reverse_rows(a.next);
  for (auto* values : {&a.probability, &a.outcome_reward, &a.lower, &a.upper})
    reverse_rows(*values);
  for (Signal& s : a.signals) reverse_rows(s.outcome);
  RC_ASSERT(Model(a) == m);
}

TEST(Model, OutcomesAreGivenOnce) {
  const ModelArrays a = small();
  EXPECT_EQ(error_of([&] {
              Model(a, {{}, a.next, {}, {}, {}});
            }),
            "next is given twice, as an array (3) and as a view (3), must be given once");
  EXPECT_EQ(from_views(a), Model(a));
}

TEST(Model, ManyOutcomesAreMergedInTime) {
  constexpr int count = 200'000;
  ModelArrays a;
  a.states = count;
  a.state_rows.assign(count + 1, 1);
  a.state_rows[0] = 0;
  a.action = {0};
  a.row_outcomes = {0, 2 * count};
  for (std::int64_t i = 0; i < 2 * count; ++i)
    a.next.push_back(static_cast<State>((i * 7919) % count));
  a.probability.assign(2 * count, 0.5 / count);
  EXPECT_EQ(Model(a).outcomes(), count);
  // The same with one next state and many values, as an estimate from samples has them.
  a.states = 1;
  a.state_rows = {0, 1};
  a.outcome_reward.assign(a.next.begin(), a.next.end());
  a.next.assign(2 * count, 0);
  EXPECT_EQ(Model(a).outcomes(), count);
}

TEST(Model, OneStateWithoutActions) {
  ModelArrays a;
  a.states = 1;
  a.state_rows = {0, 0};
  a.row_outcomes = {0};
  const Model m(a);
  EXPECT_EQ(m.rows(), 0);
  EXPECT_EQ(m.actions(), 0);
  EXPECT_EQ(m.row_begin(0, 0), m.row_end(0, 0));
}

TEST(Model, RulesOfProbabilities) {
  const auto with = [](double p) {
    return error_after([&](ModelArrays& a) { a.probability[2] = p; });
  };
  EXPECT_EQ(with(-0.1), "probability -0.1 of (state 0, action 2) to state 1, must be in [0, 1]");
  EXPECT_EQ(with(1.5), "probability 1.5 of (state 0, action 2) to state 1, must be in [0, 1]");
  EXPECT_EQ(with(nan), "probability nan of (state 0, action 2) to state 1, must be in [0, 1]");
  EXPECT_EQ(with(infinity), "probability inf of (state 0, action 2) to state 1, must be in [0, 1]");
  EXPECT_EQ(with(0.98),
            "probabilities of (state 0, action 2) sum to 0.98, must sum to 1 within 1e-09");
  EXPECT_EQ(with(0), "probabilities of (state 0, action 2) sum to 0, must sum to 1 within 0");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.next[0] = 2; }),
            "next state 2 of (state 0, action 0), must be in 0..1");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.next[0] = -1; }),
            "next state -1 of (state 0, action 0), must be in 0..1");
}

TEST(Model, RulesOfIntervals) {
  const auto with = [](double lower, double upper) {
    return error_after([&](ModelArrays& a) {
      a.lower = {lower, 0.5, 1};
      a.upper = {upper, 0.75, 1};
    });
  };
  EXPECT_EQ(with(0.5, 0.25),
            "interval [0.5, 0.25] of (state 0, action 0) to state 0, must satisfy 0 <= lower <= "
            "upper <= 1");
  EXPECT_EQ(with(0.5, nan),
            "interval [0.5, nan] of (state 0, action 0) to state 0, must satisfy 0 <= lower <= "
            "upper <= 1");
  EXPECT_EQ(with(0, 0.125),
            "intervals of (state 0, action 0) have lower sum 0.5 and upper sum 0.875, must enclose "
            "1");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.lower = {0, 0, 0};
            }),
            "lower has 3 values and upper 0, must be given together");
}

TEST(Model, RulesOfValues) {
  EXPECT_EQ(error_after([](ModelArrays& a) { a.reward[1] = nan; }),
            "reward of (state 0, action 2) is nan, must be finite");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.outcome_reward = {0, infinity, 0};
            }),
            "reward of an outcome of (state 0, action 0) is inf, must be finite");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.signals[0].row[0] = -infinity; }),
            "signal 'cost' of (state 0, action 0) is -inf, must be finite");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.reward.push_back(1); }),
            "reward has 3 values, must have 2 or none");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.signals.push_back(a.signals[0]); }),
            "signal 'cost' is given twice, names must differ");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.signals[0].name = "reward"; }),
            "signal name 'reward', must not be empty or 'reward'");
}

TEST(Model, RulesOfShape) {
  EXPECT_EQ(error_after([](ModelArrays& a) { a.states = 0; }), "states = 0, must be at least 1");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.states = 3; }),
            "state_rows has 3 entries, must have 4");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.stages = 0; }), "stages = 0, must be at least 1");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.state_rows = {0, 3, 2};
            }),
            "state_rows decreases somewhere, must never decrease");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.row_outcomes = {1, 2, 3};
            }),
            "row_outcomes starts at 1, must start at 0");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.row_outcomes = {0, 2, 4};
            }),
            "row_outcomes ends at 4, must end at 3");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.row_outcomes = {0, 0, 3};
            }),
            "(state 0, action 0) has no outcome, must have at least one");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.probability.pop_back(); }),
            "probability has 2 values, must have 3");
}

TEST(Model, RulesOfActionsAndNames) {
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.action = {2, 2};
            }),
            "(state 0, action 2) is given twice, must be given once");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.action = {2, 0};
            }),
            "action 0 of state 0 comes after action 2, actions of a state must increase");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.action = {-1, 0};
            }),
            "action number -1 of row 0, must be in 0..2147483646");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.action[1] = 2147483647; }),
            "action number 2147483647 of row 1, must be in 0..2147483646");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.action_names = {"a", "b"};
            }),
            "action_names has 2 names, must have 3 or none");
  EXPECT_EQ(error_after([](ModelArrays& a) { a.state_names = {"a"}; }),
            "state_names has 1 names, must have 2 or none");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.state_names = {"a", "a"};
            }),
            "state name 'a' is given twice, names must differ");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.labels = {{"goal", {0}}, {"goal", {1}}};
            }),
            "label 'goal' is given twice, names must differ");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.labels = {{"goal", {0, 2}}};
            }),
            "state 2 of label 'goal', must be in 0..1");
  EXPECT_EQ(error_after([](ModelArrays& a) {
              a.labels = {{"", {}}};
            }),
            "a label without a name, must have one");
}

TEST(ModelBuilder, TakesRowsInAnyOrder) {
  const auto row = [](double reward) {
    return ModelBuilder::RowData{
        reward, {}, {{.next = 0, .probability = 1, .reward = 0, .signals = {}}}};
  };
  ModelBuilder builder(2, {"cost"}, 2);
  builder.add(1, 1, 0, row(4));
  builder.add(0, 1, 5, row(2));
  builder.add(0, 1, 3, row(1));
  builder.add(1, 0, 0, row(3));
  const Model m = builder.build();
  EXPECT_EQ(m.arrays().reward, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(m.row_begin(0, 0), m.row_end(0, 0));
  EXPECT_EQ(m.row_name(3), "(stage 1, state 1, action 0)");
}

TEST(ModelBuilder, RefusesWhatIsOutOfRange) {
  ModelBuilder builder(2, {"cost"}, 2);
  EXPECT_EQ(error_of([&] { builder.add(2, 0, 0, {}); }), "stage 2, must be in 0..1");
  EXPECT_EQ(error_of([&] { builder.add(0, 2, 0, {}); }), "state 2, must be in 0..1");
  EXPECT_EQ(error_of([&] {
              builder.add(0, 0, 0, {0, {1, 2}, {}});
            }),
            "2 signal values of (state 0, action 0), must be 1 or none");
  builder.add(0, 0, 0, {});
  EXPECT_EQ(error_of([&] { builder.build(); }),
            "(stage 0, state 0, action 0) has no outcome, must have at least one");
}

TEST(RandomModel, IsTheSameForTheSameSeed) {
  EXPECT_EQ(testing::random_model(7), testing::random_model(7));
  EXPECT_FALSE(testing::random_model(7) == testing::random_model(8));
}

}  // namespace
}  // namespace redoubt
