#include "redoubt/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using testing::random_model;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Change>
std::string error_after(Change change) {
  Terms terms;
  terms.horizon = 5;
  change(terms);
  return error_of([&] { Problem(random_model(1), terms); });
}

TEST(Problem, HorizonMayBeZeroOneOrInfinite) {
  EXPECT_EQ(Problem(random_model(1), {.horizon = 0}).horizon(), 0);
  EXPECT_EQ(Problem(random_model(1), {.horizon = 1}).horizon(), 1);
  EXPECT_TRUE(Problem(random_model(1), {.discount = 0.5}).infinite());
}

TEST(Problem, MayHaveNoConstraint) {
  EXPECT_TRUE(Problem(random_model(1), {.horizon = 1}).constraints().empty());
}

TEST(Problem, KnowsTheSignalOfEachConstraint) {
  const Model model = random_model(1, {.signals = 3});
  const Problem p(model,
                  {.horizon = 1, .constraints = {at_least("cost2", 1), at_most("cost0", 2)}});
  EXPECT_EQ(p.signal_of(0), 2);
  EXPECT_EQ(p.signal_of(1), 0);
}

TEST(Problem, StartsThatMeanTheSameAreEqual) {
  const auto with = [](Start start) {
    return Problem(random_model(1), {.horizon = 1, .start = std::move(start)});
  };
  EXPECT_EQ(with(Start({3, 1, 3, 0}, {0.25, 0.5, 0.25, 0})), with(Start({1, 3}, {0.5, 0.5})));
  EXPECT_EQ(with(Start({2}, {1 + 1e-10})), with(Start(2)));
  const double sum = [&] {
    const Problem p = with(Start::uniform(5));
    double total = 0;
    for (const double x : p.start().probability) total += x;
    return total;
  }();
  EXPECT_NEAR(sum, 1, 1e-15);
  EXPECT_EQ(with(with(Start({0, 1, 2}, {0.1, 0.2, 0.7 + 1e-10})).start()),
            with(Start({0, 1, 2}, {0.1, 0.2, 0.7 + 1e-10})));
}

TEST(Problem, RulesOfTime) {
  EXPECT_EQ(error_after([](Terms& t) { t.discount = 0; }), "discount = 0, must be in (0, 1]");
  EXPECT_EQ(error_after([](Terms& t) { t.discount = 1.2; }), "discount = 1.2, must be in (0, 1]");
  EXPECT_EQ(error_after([](Terms& t) { t.discount = nan; }), "discount = nan, must be in (0, 1]");
  EXPECT_EQ(error_after([](Terms& t) { t.horizon = -1; }), "horizon = -1, must be at least 0");
  EXPECT_THAT(error_after([](Terms& t) { t.horizon.reset(); }),
              ::testing::HasSubstr("for ever, where 'reward' grows without end"));
  const Model staged = random_model(1, {.horizon = 3, .stage_dependent = true});
  EXPECT_EQ(error_of([&] { Problem(staged, {.horizon = 4}); }),
            "the model has rows for 3 stages, the horizon must be 3 (it is 4)");
  EXPECT_EQ(error_of([&] { Problem(staged, {.discount = 0.9}); }),
            "the model has rows for 3 stages, the horizon must be 3 (it is infinite)");
}

TEST(Problem, RulesOfTheStart) {
  EXPECT_EQ(error_after([](Terms& t) { t.start = Start(5); }), "start state 5, must be in 0..4");
  EXPECT_EQ(error_after([](Terms& t) { t.start = Start(-1); }), "start state -1, must be in 0..4");
  EXPECT_EQ(error_after([](Terms& t) {
              t.start = Start({0, 1}, {0.5, 0.48});
            }),
            "start probabilities sum to 0.98, must sum to 1 within 2e-09");
  EXPECT_EQ(error_after([](Terms& t) {
              t.start = Start({0, 1}, {1.5, -0.5});
            }),
            "start probability 1.5 of state 0, must be in [0, 1]");
  EXPECT_EQ(error_after([](Terms& t) {
              t.start = Start({0, 1}, {nan, 1});
            }),
            "start probability nan of state 0, must be in [0, 1]");
  EXPECT_EQ(error_after([](Terms& t) {
              t.start = Start({0, 1}, {1});
            }),
            "start has 2 states and 1 probabilities, must be equally many");
  EXPECT_EQ(error_after([](Terms& t) { t.start = Start(); }),
            "start probabilities sum to 0, must sum to 1 within 1e-09");
}

TEST(Problem, RulesOfConstraints) {
  EXPECT_EQ(error_after([](Terms& t) { t.constraints = {at_most("risk", 1)}; }),
            "constraint on signal 'risk', the model has no signal of that name");
  EXPECT_EQ(error_after([](Terms& t) { t.constraints = {at_most("cost0", nan)}; }),
            "bound nan of the constraint on 'cost0', must be finite");
  EXPECT_EQ(error_after([](Terms& t) {
              t.constraints = {at_most("cost0", 1)};
              t.constraints[0].probability = 1.5;
            }),
            "probability 1.5 of the constraint on 'cost0', must be in (0, 1]");
}

TEST(Problem, RulesOfTheUncertaintySet) {
  EXPECT_EQ(error_after([](Terms& t) { t.uncertainty = KL{-0.1}; }),
            "radius = -0.1, must be finite and at least 0");
  EXPECT_EQ(error_after([](Terms& t) { t.uncertainty = TV{nan}; }),
            "radius = nan, must be finite and at least 0");
  EXPECT_EQ(error_after([](Terms& t) {
              t.uncertainty = Chi2{std::vector{0.1, 0.2}};
            }),
            "2 radii for 15 rows, must be one for each row");
  EXPECT_EQ(error_after([](Terms& t) {
              std::vector<double> radii(15, 0.1);
              radii[4] = nan;
              t.uncertainty = KL{radii};
            }),
            "radius nan of (state 1, action 1), must be finite and at least 0");
  EXPECT_EQ(error_after([](Terms& t) { t.uncertainty = Tilt{0}; }),
            "temperature = 0, must be positive and finite");
  EXPECT_EQ(error_after([](Terms& t) { t.uncertainty = Interval{}; }),
            "set interval on a model without intervals, must have lower and upper bounds for its "
            "outcomes");
}

TEST(Problem, ReplacingTermsChecksThemAgain) {
  const Problem p(random_model(1), {.horizon = 3});
  EXPECT_EQ(p.with({.horizon = 4}).horizon(), 4);
  EXPECT_EQ(error_of([&] { p.with({.horizon = 4, .discount = 2}); }),
            "discount = 2, must be in (0, 1]");
  EXPECT_EQ(p.horizon(), 3);
}

}  // namespace
}  // namespace redoubt
