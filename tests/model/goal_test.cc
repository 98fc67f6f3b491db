#include "model/goals.h"

#include <gtest/gtest.h>

#include "redoubt/goal.h"
#include "redoubt/problem.h"

namespace redoubt {
using namespace internal;
namespace {

using Kind = Goal::Kind;

TEST(Goal, WordsSayWhatTheyMean) {
  EXPECT_EQ(parse_goal("reach goal"), (Goal{Kind::reach, "goal"}));
  EXPECT_EQ(parse_goal("  avoid   crash "), (Goal{Kind::avoid, "crash"}));
  EXPECT_EQ(parse_goal("safe until goal"), (Goal{Kind::until, "goal", "safe"}));
  EXPECT_EQ(parse_goal("steps to goal"), (Goal{Kind::steps, "goal"}));
  EXPECT_EQ(parse_goal("total of cost until goal"), (Goal{Kind::total, "goal", "", "cost"}));
  EXPECT_EQ(parse_goal("reach \"until\""), (Goal{Kind::reach, "until"}));
}

TEST(Goal, OtherWordsAreNone) {
  for (const char* words :
       {"", "cost", "reach", "reach until", "reach a b", "steps goal", "until until until",
        "total cost until goal", "reach \"goal", "\"reach\" goal", "reach \"a\\"})
    EXPECT_FALSE(parse_goal(words).has_value()) << words;
}

TEST(Goal, NamesSurviveTheirQuotes) {
  for (const std::string name : {"goal", "two words", "to", "\"", "\\", "a\\\"b", "", "état"}) {
    EXPECT_EQ(parse_goal(reach(name)), (Goal{Kind::reach, name}));
    EXPECT_EQ(parse_goal(avoid(name)), (Goal{Kind::avoid, name}));
    EXPECT_EQ(parse_goal(until(name, name)), (Goal{Kind::until, name, name}));
    EXPECT_EQ(parse_goal(steps_to(name)), (Goal{Kind::steps, name}));
    EXPECT_EQ(parse_goal(total_until(name, name)), (Goal{Kind::total, name, "", name}));
  }
}

// A ring of three states; going on from one to the next is certain.
Model ring() {
  ModelBuilder builder(3, {"cost"});
  for (State s = 0; s < 3; ++s)
    builder.add(0, s, 0, {1.0, {2.0}, {{static_cast<State>((s + 1) % 3), 1.0}}});
  builder.label("goal", {1});
  builder.label("crash", {2});
  return builder.build();
}

TEST(Goal, OnlyPairsThatEpisodesComeToAreStates) {
  const Problem problem(
      ring(),
      {.horizon = 5, .constraints = {at_least(reach("goal"), 1), at_most(reach("crash"), 1)}});
  // 0, then 1 after goal, and from 2 on after both, for ever.
  EXPECT_EQ(problem.model().states(), 5);
  EXPECT_EQ(problem.given_state(), (std::vector<State>{0, 0, 1, 1, 2}));
  EXPECT_EQ(problem.model().state_name(0), "0");
  EXPECT_EQ(problem.model().state_name(1), "0 after goal, crash");
  EXPECT_EQ(problem.model().state_name(2), "1 after goal");
  EXPECT_EQ(problem.model().find_label("goal")->states, (std::vector<State>{2, 3}));
  EXPECT_EQ(problem.given().model, ring());
  EXPECT_EQ(problem.given().model.states(), 3);
}

TEST(Goal, AProblemWithoutGoalsIsAsItWasGiven) {
  const Problem problem(ring(), {.horizon = 5, .constraints = {at_most("cost", 1)}});
  EXPECT_TRUE(problem.given_state().empty());
  EXPECT_EQ(problem.given().model, problem.model());
  EXPECT_EQ(problem.given().terms, problem.terms());
}

TEST(Goal, TermsOfAProblemWithGoalsMakeTheSameAgain) {
  const Problem problem(ring(), {.horizon = 5, .constraints = {at_least(avoid("crash"), 0.5)}});
  const Draft given = problem.given();
  EXPECT_EQ(Problem(given.model, given.terms), problem);
  EXPECT_EQ(problem.with(problem.terms()).model(), problem.model());
}

TEST(Goal, RadiiOfRowsStayWithTheirRows) {
  const Problem problem(ring(), {.horizon = 5,
                                 .constraints = {at_most(reach("goal"), 1)},
                                 .uncertainty = KL{{std::vector<double>{0.1, 0.2, 0.3}}}});
  const auto& radius = std::get<KL>(problem.uncertainty()).radius;
  ASSERT_EQ(static_cast<Row>(radius.rows.size()), problem.model().rows());
  for (State s = 0; s < problem.model().states(); ++s)
    EXPECT_EQ(radius.of(problem.model().row_begin(0, s)),
              (std::vector<double>{0.1, 0.2, 0.3}[problem.given_state()[s]]));
}

}  // namespace
}  // namespace redoubt
