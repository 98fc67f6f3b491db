#include "model/two_stages.h"

#include <gtest/gtest.h>

#include "redoubt/evaluate.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/expect_error.h"

namespace redoubt {
namespace {

using testing::error_of;

// From 0 to 1, or to 2 or 3, which earn 5, 1 and 3.
ModelBuilder fork() {
  ModelBuilder builder(4, {"cost"});
  const State group = builder.group({3, 2});
  builder.add(0, 0, 0,
              {.outcomes = {{.next = 1, .probability = 0.7}, {.next = group, .probability = 0.3}}});
  const double earns[] = {0, 5, 1, 3};
  for (State s = 1; s < 4; ++s)
    builder.add(0, s, 0,
                {.reward = earns[s],
                 .signals = {s == 3 ? 1.0 : 0.0},
                 .outcomes = {{.next = s, .probability = 1}}});
  return builder;
}

Problem forked(Terms terms) { return {fork().build(), std::move(terms)}; }

TEST(Groups, TheBuilderKnowsTheSameMembersAgain) {
  ModelBuilder builder(4, {});
  const State group = builder.group({3, 2});
  EXPECT_EQ(group, 4);
  EXPECT_EQ(builder.group({2, 3, 3}), group);
  EXPECT_EQ(builder.group({1, 2}), 5);
}

TEST(Groups, NatureTakesTheWorstMemberForEachTotal) {
  const Problem problem = forked({.horizon = 2, .constraints = {at_most("cost", 1)}});
  const Solution solution = robust(problem);
  EXPECT_NEAR(solution.reward.worst, 0.7 * 5 + 0.3 * 1, 1e-12);
  EXPECT_NEAR(solution.constraints[0].worst, 0.3, 1e-12);  // the other member
  const Evaluation slow = verify(problem, solution.policy);
  EXPECT_NEAR(slow.reward.worst, solution.reward.worst, 1e-12);
  EXPECT_NEAR(slow.constraints[0].worst, solution.constraints[0].worst, 1e-12);
}

TEST(Groups, AHelpfulPickIsThePolicys) {
  const Problem problem = forked({.horizon = 2, .helpful_groups = true});
  EXPECT_NEAR(robust(problem).reward.worst, 0.7 * 5 + 0.3 * 3, 1e-12);
}

TEST(Groups, EveryDecisionTakesTwoStages) {
  const Problem problem = forked({.horizon = 3, .discount = 0.81});
  EXPECT_EQ(problem.horizon(), 6);
  EXPECT_NEAR(problem.discount(), 0.9, 1e-15);
  EXPECT_EQ(problem.given().terms.horizon, 3);
  EXPECT_EQ(problem.given().terms.discount, 0.81);
  EXPECT_EQ(problem.given().model.groups(), 1);
  EXPECT_EQ(problem.model().groups(), 0);
  // Ordinary states, the group, and those that single outcomes lead to.
  EXPECT_EQ(problem.given_state(), (std::vector<State>{0, 1, 2, 3, 4, 1, 2, 3}));
  const double discounted = 0.7 * 5 * (0.81 + 0.81 * 0.81) + 0.3 * 1 * (0.81 + 0.81 * 0.81);
  EXPECT_NEAR(robust(problem).reward.worst, discounted, 1e-12);
}

TEST(Groups, ReachAnywhereIsAGroupOfAllStates) {
  const Problem problem = forked({.horizon = 2, .uncertainty = TV{0.1}});
  const Solution solution = robust(problem);
  EXPECT_NEAR(solution.reward.worst, 0.6 * 5 + 0.3 * 1 + 0.1 * 0, 1e-12);  // a tenth goes to 0
  EXPECT_NEAR(verify(problem, solution.policy).reward.worst, solution.reward.worst, 1e-12);
}

TEST(Groups, NamesSayWhatAStateIs) {
  ModelBuilder builder = fork();
  builder.name_states({"depot", "town", "lake", "hill"});
  const Problem problem(builder.build(), {.horizon = 1});
  EXPECT_EQ(problem.model().state_name(4), "one of lake, hill");
  EXPECT_EQ(problem.model().state_name(5), "on the way to town");
}

TEST(Groups, FilesKeepThem) {
  const Problem problem = forked({.horizon = 2, .helpful_groups = true});
  EXPECT_EQ(read_json(write_json(problem), "copy"), problem);
  const Draft umb = read_umb(write_umb(problem, Packing::plain), "copy");
  EXPECT_EQ(umb.model, problem.given().model);
  EXPECT_EQ(umb.terms, problem.given().terms);
}

TEST(Groups, RulesOfAModel) {
  ModelArrays arrays = fork().build().arrays();
  const auto with = [&](auto change) {
    ModelArrays changed = arrays;
    change(changed);
    Model model(std::move(changed));
  };
  EXPECT_EQ(error_of([&] { with([](ModelArrays& a) { a.groups = 5; }); }),
            "5 groups of 5 states, must leave an ordinary state");
  EXPECT_EQ(error_of([&] { with([](ModelArrays& a) { a.groups = 2; }); }),
            "member 3 of group 3 is a group itself, must be an ordinary state");
  EXPECT_EQ(error_of([&] { with([](ModelArrays& a) { a.reward.back() = 2; }); }),
            "group 4 earns 2, must earn nothing of its own");
  EXPECT_EQ(error_of([&] {
              with([](ModelArrays& a) {
                a.states = 6;
                a.state_rows.push_back(a.state_rows.back());
              });
            }),
            "group 5 has 0 rows, must have one, which lists its members");
  ModelBuilder builder(2, {});
  EXPECT_EQ(error_of([&] { builder.group({}); }),
            "a group without members, must have at least one");
  EXPECT_EQ(error_of([&] { builder.group({2}); }), "state 2 of a group, must be in 0..1");
}

TEST(Groups, RulesOfTerms) {
  EXPECT_EQ(error_of([] { forked({.horizon = 1, .uncertainty = Tilt{1}}); }),
            "set tilt on a model with 1 groups, must be none, tv, chi2, kl or interval");
  EXPECT_EQ(error_of([] { forked({.horizon = 1, .start = 4}); }),
            "start state 4 is a group, must be an ordinary state");
}

}  // namespace
}  // namespace redoubt
