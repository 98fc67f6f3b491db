#include "model/two_stages.h"

#include <gtest/gtest.h>

#include "policy/memory_update.h"
#include "policy/unseen_factors.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "redoubt/verify.h"
#include "support/expect_error.h"

namespace redoubt {
namespace {

using testing::error_of;

// Two ordinary states; action 0 of state 0 mixes both factors, all others take one.
ModelBuilder mixed() {
  ModelBuilder builder(2, {"cost"});
  const State first =
      builder.factor({{.next = 0, .probability = 0.4}, {.next = 1, .probability = 0.6}});
  const State second = builder.factor({{.next = 1, .probability = 1}});
  builder.add(
      0, 0, 0,
      {.outcomes = {{.next = first, .probability = 0.5}, {.next = second, .probability = 0.5}}});
  builder.add(0, 0, 1, {.reward = -0.05, .outcomes = {{.next = first, .probability = 1}}});
  builder.add(0, 1, 0,
              {.reward = 1, .signals = {1}, .outcomes = {{.next = first, .probability = 1}}});
  return builder;
}

TEST(Factors, EveryDecisionTakesTwoStages) {
  const Problem problem(mixed().build(), {.horizon = 2, .discount = 0.81});
  EXPECT_EQ(problem.horizon(), 4);
  EXPECT_NEAR(problem.discount(), 0.9, 1e-15);
  EXPECT_EQ(problem.given().model.factors(), 2);
  EXPECT_EQ(problem.given().model.ordinary(), 2);
  EXPECT_EQ(problem.model().factors(), 0);
  EXPECT_TRUE(problem.two_stages());
  EXPECT_FALSE(problem.is_factor(1));
  EXPECT_TRUE(problem.is_factor(2));
  EXPECT_NEAR(robust(problem).reward.worst, 0.81 * (0.5 * 0.6 + 0.5), 1e-12);
}

// Half of a radius of total variation .1 is lost where a row takes half of the factor, and nothing
// where the factor is certain.
TEST(Factors, TheSetIsAroundFactors) {
  const Problem problem(
      mixed().build(),
      {.horizon = 2, .constraints = {at_most("cost", 1)}, .uncertainty = TV{0.1, Reach::support}});
  const Solution solution = robust(problem);
  EXPECT_NEAR(solution.reward.worst, 0.5 * (0.6 - 0.1) + 0.5, 1e-12);
  EXPECT_NEAR(solution.constraints[0].worst, 0.5 * (0.6 + 0.1) + 0.5, 1e-12);
  const Evaluation slow = verify(problem, solution.policy);
  EXPECT_NEAR(slow.reward.worst, solution.reward.worst, 1e-12);
  EXPECT_NEAR(slow.constraints[0].worst, solution.constraints[0].worst, 1e-12);
}

TEST(Factors, MassThatMayGoAnywhereLeavesTheFactor) {
  const Problem problem(mixed().build(), {.horizon = 2, .uncertainty = TV{0.1}});
  EXPECT_NEAR(robust(problem).reward.worst, 0.5 * (0.6 - 0.1) + 0.5 * (1 - 0.1), 1e-12);
}

// A policy that sees factors may take more where reward and cost have natures of their own; what
// remains of it in the dark remembers the same whichever factor was drawn.
TEST(Factors, APolicyInTheDarkRemembersNoFactor) {
  const Problem problem(
      mixed().build(),
      {.horizon = 3, .constraints = {at_most("cost", 0.7)}, .uncertainty = KL{0.1}});
  const Problem seeing = problem.with(problem.terms());  // in which factors are states as any other
  const Solution solution = frontier(seeing);
  const Policy dark = internal::without_factors(problem, solution.policy);
  check_policy(problem, dark);
  const Model& model = problem.model();
  int compared = 0;
  for (int h = 1; h < problem.horizon(); h += 2) {
    for (std::int32_t m = 0; m < internal::memory_of(dark, h, 2); ++m) {
      std::map<State, std::vector<MemoryMove>> known;
      for (State factor = 2; factor < 4; ++factor) {
        const Row row = model.row_begin(h, factor);
        for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
          const State next = model.arrays().next[i];
          std::vector<MemoryMove> moves;
          internal::memory_moves(problem, dark, internal::decision(dark, h, factor, m, 0),
                                 i - model.outcome_begin(row), next, moves);
          const auto [found, added] = known.emplace(next, moves);
          EXPECT_EQ(found->second, moves);
          compared += !added;
        }
      }
    }
  }
  EXPECT_GT(compared, 0);
  EXPECT_EQ(internal::memory_of(dark, 1, 2), internal::memory_of(dark, 1, 3));
  const Problem nominal = problem.with([&] {
    Terms terms = problem.terms();
    terms.uncertainty = Nominal{};
    return terms;
  }());
  EXPECT_NEAR(evaluate(nominal, dark).reward.worst, evaluate(nominal, solution.policy).reward.worst,
              1e-12);
  const Evaluation fast = evaluate(problem, dark), slow = verify(problem, dark);
  EXPECT_NEAR(fast.reward.worst, slow.reward.worst, 1e-10);
  EXPECT_NEAR(fast.constraints[0].worst, slow.constraints[0].worst, 1e-10);
}

TEST(Factors, AnErrorNamesTheRule) {
  const auto factor = [](ModelBuilder& b) { return b.factor({{.next = 0, .probability = 1}}); };
  ModelBuilder straight(2, {});
  factor(straight);
  straight.add(0, 0, 0, {.outcomes = {{.next = 1, .probability = 1}}});
  EXPECT_EQ(error_of([&] { straight.build(); }),
            "(state 0, action 0) leads to state 1, must lead to factors only, as every row where "
            "there are any");
  ModelBuilder both(2, {});
  both.group({0, 1});
  factor(both);
  EXPECT_EQ(error_of([&] { both.build(); }), "1 groups and 1 factors, must be one of them");
  ModelBuilder earns(2, {});
  const State f = earns.factor({{.next = 0, .probability = 1, .reward = 2}}), same = factor(earns);
  earns.add(0, 0, 0,
            {.outcomes = {{.next = f, .probability = 0.5}, {.next = same, .probability = 0.5}}});
  EXPECT_EQ(error_of([&] { earns.build(); }),
            "factors of (state 0, action 0) earn 2 and 0 in state 0, must earn the same there");
  ModelBuilder chain(1, {});
  const State g = factor(chain);
  chain.factor({{.next = g, .probability = 1}});
  EXPECT_EQ(error_of([&] { chain.build(); }),
            "factor 2 leads to factor 1, must lead to ordinary states");
  EXPECT_EQ(error_of([&] { Problem(mixed().build(), {.horizon = 2, .start = Start(2)}); }),
            "start state 2 is a factor, must be an ordinary state");
}

}  // namespace
}  // namespace redoubt
