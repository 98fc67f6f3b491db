// The same problem with its states in another order, and the order in which neighbours lie close.
#include "redoubt/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "redoubt/advanced/ranks.h"
#include "redoubt/environments.h"
#include "support/expect_error.h"
#include "support/random_problem.h"
#include "support/shuffled.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::shuffled;

// What the numbers of two states that a row leads to from one to another differ by at most.
State furthest(const Model& model) {
  State most = 0;
  for (State s = 0; s < model.states(); ++s) {
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        most = std::max(most, std::abs(model.arrays().next[i] - s));
    }
  }
  return most;
}

TEST(Reorder, OfAShuffledBoardIsAsGoodAsRowByRow) {
  const Problem board = make("grid(size=30)");
  const Problem bad = reorder(board, shuffled(board.model().states()));
  ASSERT_EQ(furthest(board.model()), 30);
  EXPECT_GE(furthest(bad.model()), 20 * 30);
  EXPECT_LE(furthest(reorder(bad).model()), 2 * 30);
}

TEST(Reorder, OfAChainIsTheChain) {
  ModelBuilder builder(101, {});
  const auto number = shuffled(101, 5);
  for (State i = 0; i < 100; ++i) builder.add(0, number[i], 0, {0, {}, {{number[i + 1], 1.0}}});
  const Problem chain(builder.build(), {.horizon = 3, .start = number[50]});
  EXPECT_EQ(furthest(reorder(chain).model()), 1);
}

// One row with all that belongs to it, states by name.
struct NamedRow {
  int stage = 0;
  std::string state;
  std::int32_t action = 0;
  double reward = 0, radius = 0;
  std::vector<double> signals;
  struct Outcome {
    std::string next;
    std::vector<double> values;  // probability, interval, reward and signals
    auto operator<=>(const Outcome&) const = default;
  };
  std::multiset<Outcome> outcomes;
  auto operator<=>(const NamedRow&) const = default;
};

NamedRow::Outcome outcome_of(const Model& model, std::int64_t i) {
  const ModelArrays& a = model.arrays();
  NamedRow::Outcome outcome{model.state_name(a.next[i]), {a.probability[i]}};
  if (!a.lower.empty()) outcome.values.insert(outcome.values.end(), {a.lower[i], a.upper[i]});
  for (int s = -1; s < model.signals(); ++s) outcome.values.push_back(model.outcome_value(s, i));
  return outcome;
}

std::set<NamedRow> rows_of(const Problem& problem) {
  const Model& model = problem.model();
  const auto radius = [&](Row row) {
    return std::visit(
        [row](const auto& set) {
          if constexpr (requires { set.radius; }) return set.radius.of(row);
          return 0.0;
        },
        problem.uncertainty());
  };
  std::set<NamedRow> rows;
  for (int h = 0; h < model.stages(); ++h) {
    for (State s = 0; s < model.states(); ++s) {
      for (Row r = model.row_begin(h, s); r < model.row_end(h, s); ++r) {
        NamedRow row;
        row.stage = h;
        row.state = model.state_name(s);
        row.action = model.arrays().action[r];
        row.reward = model.value(-1, r);
        row.radius = radius(r);
        for (int i = 0; i < model.signals(); ++i) row.signals.push_back(model.value(i, r));
        for (auto i = model.outcome_begin(r); i < model.outcome_end(r); ++i)
          row.outcomes.insert(outcome_of(model, i));
        rows.insert(std::move(row));
      }
    }
  }
  return rows;
}

std::map<std::string, double> start_of(const Problem& problem) {
  std::map<std::string, double> start;
  const Start& s = problem.start();
  for (std::size_t i = 0; i < s.states.size(); ++i)
    start[problem.model().state_name(s.states[i])] = s.probability[i];
  return start;
}

// Names of problems without any are numbers, so that one comparison serves both.
TEST(Reorder, KeepsAllThatBelongsToAState) {
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomOptions options = testing::random_options(seed);
    options.names = seed % 3 == 0;
    const Problem given = testing::random_problem(seed, options);
    const State states = given.model().states();
    for (const Problem& other : {reorder(given), reorder(given, shuffled(states, seed))}) {
      EXPECT_EQ(rows_of(other), rows_of(given));
      EXPECT_EQ(start_of(other), start_of(given));
      EXPECT_EQ(other.model().states(), states);
      EXPECT_EQ(other.model().arrays().action_names, given.model().arrays().action_names);
      EXPECT_EQ(other.constraints(), given.constraints());
      EXPECT_EQ(other.terms().horizon, given.terms().horizon);
      EXPECT_EQ(other.discount(), given.discount());
    }
  }
}

TEST(Reorder, BackAgainIsTheSameProblem) {
  testing::RandomOptions options;
  options.states = 12;
  options.names = options.outcome_values = options.stage_dependent = options.ragged = true;
  options.row_radii = true;
  const Problem given = testing::random_problem(3, options);
  const auto order = shuffled(options.states);
  std::vector<State> back(order.size());
  for (State i = 0; i < options.states; ++i) back[order[i]] = i;
  const Problem other = reorder(given, order);
  EXPECT_FALSE(other == given);
  EXPECT_EQ(reorder(other, back), given);
}

TEST(Reorder, NamesStatesByTheirOldNumbers) {
  const Problem board = make("grid(size=4)");
  ASSERT_TRUE(board.model().arrays().state_names.empty());
  const auto order = shuffled(board.model().states());
  const Problem other = reorder(board, order);
  for (State s = 0; s < board.model().states(); ++s)
    EXPECT_EQ(other.model().state_name(s), std::to_string(order[s]));
}

TEST(Reorder, NeedsEveryStateOnce) {
  const Problem problem = testing::random_problem(1);
  const auto refused = [&](const std::vector<State>& order) {
    return error_of([&] { reorder(problem, order); });
  };
  EXPECT_THAT(refused({0, 1, 2}), HasSubstr("a numbering of 3 states, must have each of 5 once"));
  EXPECT_THAT(refused({0, 1, 2, 3, 1}),
              HasSubstr("state 1 of a numbering, must be in 0..4 and come once"));
  EXPECT_THAT(refused({0, 1, 2, 3, 5}), HasSubstr("state 5 of a numbering"));
  const Problem part = subproblem(problem, balanced_blocks(problem.model(), 2), 1);
  EXPECT_THAT(error_of([&] { reorder(part); }), HasSubstr("must be reordered before"));
}

}  // namespace
}  // namespace redoubt
