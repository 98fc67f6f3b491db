#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/patience.h"
#include "support/set_laws.h"
#include "support/set_states.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::SetState, testing::solve, testing::solve_best, testing::reference_worst_case,
    testing::error_unit, testing::is_benign, testing::broken_state_law;

class StatesOf : public ::testing::TestWithParam<Uncertainty> {};

// Every instruction set against long double.
TEST_P(StatesOf, AgainstTheReferenceOnNastyStates) {
  const Uncertainty& set = GetParam();
  std::mt19937_64 random(1);
  double benign = 0;
  int benign_states = 0;
  const int count = testing::cases(3000);
  for (int n = 0; n < count; ++n) {
    const SetState state = testing::nasty_state(random, set);
    const long double expected = reference_worst_case(set, state);
    for (const InstructionSet instructions : instruction_sets()) {
      const double worst = solve(set, {state}, instructions)[0].worst;
      const double error = static_cast<double>(std::abs(worst - expected)) / error_unit(state);
      ASSERT_LE(error, 1e-9) << name(instructions) << ": " << worst << " instead of "
                             << static_cast<double>(expected) << " with " << state.actions.size()
                             << " actions, radius " << state.radius << ", state " << n;
      if (is_benign(set, state)) benign = std::max(benign, error);
    }
    benign_states += is_benign(set, state);
  }
  EXPECT_LE(benign, 1e-11);
  EXPECT_GT(benign_states, count / 20);
}

TEST_P(StatesOf, KeepTheLaws) {
  const Uncertainty& set = GetParam();
  std::mt19937_64 random(2);
  for (int n = 0; n < testing::cases(1500); ++n) {
    const bool nasty = n % 2 == 0;
    const auto any_state = [&] {
      return nasty ? testing::nasty_state(random, set)
                   : testing::plain_state(random, 1 + testing::pick(random, 5),
                                          1 + testing::pick(random, 8),
                                          testing::uniform(random, 0, 1.5));
    };
    const SetState state = any_state(), other = any_state();
    ASSERT_EQ(broken_state_law(set, state, other, nasty ? 1e-8 : 1e-9), "") << "state " << n;
  }
}

// Sweeps leave out actions that concern no lane, and which those are depends on the neighbours.
TEST_P(StatesOf, HaveTheSameBitsBesideOtherStates) {
  const Uncertainty& set = GetParam();
  std::mt19937_64 random(5);
  for (const int actions : {12, 70}) {
    std::vector<SetState> states;
    for (int n = 0; n < 40; ++n)
      states.push_back(testing::plain_state(
          random, actions, 4, actions * std::pow(10, testing::uniform(random, -4, 0))));
    for (const InstructionSet instructions : instruction_sets()) {
      const auto together = solve(set, states, instructions);
      for (std::size_t n = 0; n < states.size(); ++n) {
        const testing::StateResult alone = solve(set, {states[n]}, instructions)[0];
        ASSERT_EQ(together[n].worst, alone.worst) << name(instructions) << ", state " << n;
        ASSERT_EQ(together[n].minimiser, alone.minimiser) << name(instructions) << ", state " << n;
      }
    }
    const auto best = solve_best(set, states);
    for (std::size_t n = 0; n < states.size(); ++n) {
      const testing::BestResult alone = solve_best(set, {states[n]})[0];
      ASSERT_EQ(best[n].best, alone.best) << "state " << n;
      ASSERT_EQ(best[n].weight, alone.weight) << "state " << n;
    }
  }
}

// A checker that cannot fail checks nothing.
TEST(StateLaws, AreBrokenByAnotherSet) {
  std::mt19937_64 random(3);
  const SetState state = testing::plain_state(random, 3, 5, 0.3);
  const long double kl = reference_worst_case(KL{}, state),
                    chi2 = reference_worst_case(Chi2{}, state);
  EXPECT_GT(std::abs(kl - chi2), 1e-3);
  EXPECT_NEAR(solve(KL{}, {state})[0].worst, static_cast<double>(kl), 1e-12);
  EXPECT_NEAR(solve(Chi2{}, {state})[0].worst, static_cast<double>(chi2), 1e-12);
}

// The largest x to which nature cannot bring every action: bisection on the least weight-free
// budget, with the reference as the judge of mixtures. Weights must attain the value, and no other
// weights may do better.
TEST_P(StatesOf, BestWeightsAttainWhatNoOthersExceed) {
  const Uncertainty& set = GetParam();
  std::mt19937_64 random(4);
  int mixed = 0;
  for (int n = 0; n < testing::cases(400); ++n) {
    SetState state =
        testing::plain_state(random, 1 + testing::pick(random, 5), 2 + testing::pick(random, 7),
                             std::pow(10, testing::uniform(random, -4, 0.5)));
    const testing::BestResult best = solve_best(set, {state})[0];
    double total = 0;
    bool mixes = false;
    for (std::size_t a = 0; a < state.actions.size(); ++a) {
      EXPECT_GE(best.weight[a], 0);
      state.actions[a].weight = best.weight[a];
      total += best.weight[a];
      mixes |= best.weight[a] > 1e-6 && best.weight[a] < 1 - 1e-6;
    }
    mixed += mixes;
    ASSERT_NEAR(total, 1, 1e-12);
    const testing::StateResult found = solve(set, {state})[0];
    ASSERT_NEAR(found.worst, best.best, 1e-11) << n << ", radius " << state.radius;
    // Nature's answer to a mixture holds every action down to its value.
    for (std::size_t a = 0; mixes && a < state.actions.size(); ++a) {
      const SetState::Action& action = state.actions[a];
      double mean = found.minimiser[a].back() * action.floor;
      for (std::size_t i = 0; i < action.value.size(); ++i)
        mean += found.minimiser[a][i] * action.value[i];
      if (std::holds_alternative<TV>(set)) continue;  // has many answers
      ASSERT_LE(mean, best.best + 1e-6) << n << ", radius " << state.radius;
    }
    for (int other = 0; other < 10; ++other) {
      double sum = 0;
      for (SetState::Action& action : state.actions)
        sum += action.weight = -std::log(testing::uniform(random, 1e-12, 1));
      for (SetState::Action& action : state.actions) action.weight /= sum;
      ASSERT_LE(solve(set, {state})[0].worst, best.best + 1e-11) << n;
    }
  }
  EXPECT_GE(mixed, testing::cases(41));
}

INSTANTIATE_TEST_SUITE_P(Sets, StatesOf, ::testing::ValuesIn(testing::shared_sets()),
                         [](const auto& test) {
                           std::string text = testing::describe(test.param);
                           std::replace(text.begin(), text.end(), ' ', '_');
                           return text;
                         });

// By hand: two actions with rows (1/2, 1/2) and values 0 and 1, shared tv radius rho. Equal
// weights: moving mass gains 1/2 a unit in either, so the worst case is 1/2 - rho / 2, which is
// also the best; one action alone has 1/2 - rho.
TEST(States, TwoEqualActionsByHand) {
  SetState state;
  state.radius = 0.2;
  state.actions.assign(2, {{0.5, 0.5}, {0.0, 1.0}, 0.5, 0.0});
  const TV tv{0.2, Reach::support, Scope::state};
  EXPECT_NEAR(solve(tv, {state})[0].worst, 0.4, 1e-15);
  const testing::BestResult best = solve_best(tv, {state})[0];
  EXPECT_NEAR(best.best, 0.4, 1e-15);
  EXPECT_NEAR(best.weight[0], 0.5, 1e-15);
  // chi2: mean - sqrt(radius * sum of the variances of 1/2 v).
  EXPECT_NEAR(solve(Chi2{}, {state})[0].worst, 0.5 - std::sqrt(0.2 * 2 * 0.0625), 1e-15);
  EXPECT_NEAR(solve_best(Chi2{}, {state})[0].best, 0.5 - std::sqrt(0.2 * 2 * 0.0625), 1e-14);
}

}  // namespace
}  // namespace redoubt
