#include "redoubt/controller.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "numerics/philox.h"
#include "policy/stage_builder.h"
#include "redoubt/environments.h"
#include "redoubt/simulate.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;
using ::testing::HasSubstr;

// Runs the nominal model from outside, as a user would, and totals the reward.
double run_episode(const Problem& problem, Controller& controller, RandomStream& random) {
  const Model& model = problem.model();
  const Start& start = problem.start();
  const auto pick = [&](std::size_t count, auto weight) {
    double left = random.uniform();
    std::size_t i = 0;
    while (i + 1 < count && (left -= weight(i)) >= 0) ++i;
    return i;
  };
  State state =
      start.states[pick(start.states.size(), [&](std::size_t i) { return start.probability[i]; })];
  double total = 0, worth = 1;
  for (controller.start(); !controller.ended(); worth *= problem.discount()) {
    const int h = controller.stage();
    if (model.row_begin(h, state) == model.row_end(h, state)) break;
    const std::int32_t action = controller.act(state);
    Row row = model.row_begin(h, state);
    while (model.arrays().action[row] != action) ++row;
    const auto begin = model.outcome_begin(row);
    const auto outcome = pick(model.outcome_end(row) - begin,
                              [&](std::size_t i) { return model.arrays().probability[begin + i]; });
    total += worth * (model.value(-1, row) +
                      model.outcome_value(-1, begin + static_cast<std::int64_t>(outcome)));
    controller.observe_outcome(action, static_cast<std::int32_t>(outcome));
    state = model.arrays().next[begin + outcome];
  }
  return total;
}

TEST(Controller, EarnsWhatSimulateSays) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomOptions options = testing::random_options(seed);
    options.horizon = options.horizon.value_or(4);
    const Problem p = testing::random_problem(seed, options);
    for (const Policy& policy : {testing::random_table_policy(seed, p),
                                 testing::random_budget_policy(seed, p, Rounding::mixed)}) {
      Controller controller(p, policy, seed);
      RandomStream random(seed, 99);
      double sum = 0, squares = 0;
      constexpr int kEpisodes = 2000;
      for (int e = 0; e < kEpisodes; ++e) {
        const double total = run_episode(p, controller, random);
        sum += total, squares += total * total;
      }
      const double mean = sum / kEpisodes;
      const double variance = std::max(0.0, squares / kEpisodes - mean * mean) / kEpisodes;
      const SampledTotal expected =
          simulate(p, policy, {.episodes = kEpisodes, .seed = seed}).reward;
      const double error = std::hypot(std::sqrt(variance), expected.standard_error);
      EXPECT_NEAR(mean, expected.mean, 4 * error + 1e-9);
    }
  }
}

TEST(Controller, SameSeedSameActions) {
  const Problem p = testing::random_problem(5, {.horizon = 6});
  const Policy policy = testing::random_table_policy(5, p);
  const auto totals = [&](std::uint64_t seed, std::uint64_t stream) {
    Controller controller(p, policy, seed, stream);
    RandomStream world(1);
    std::vector<double> list;
    for (int e = 0; e < 20; ++e) list.push_back(run_episode(p, controller, world));
    return list;
  };
  EXPECT_EQ(totals(1, 0), totals(1, 0));
  EXPECT_NE(totals(1, 0), totals(2, 0));
  EXPECT_NE(totals(1, 0), totals(1, 1));
}

TEST(Controller, BudgetFallsByWhatWasSpent) {
  const Problem p = make("river_swim(horizon=10,start=3)");
  const Policy policy = rcvi(p, {.budget_step = 0.005}).policy;
  const BudgetAxis& axis = policy.budget[0];
  Controller controller(p, policy);
  controller.start();
  State state = 3;
  double left = -4;
  for (int h = 0; h < 10; ++h) {
    const std::int32_t action = controller.act(state);
    const double kept = axis.requirement(h, controller.memory());
    const double clamped =
        std::clamp(left, axis.requirement(h, 0), axis.requirement(h, axis.cells[h] - 1));
    EXPECT_NEAR(kept, clamped, 1e-9) << "stage " << h;
    const Row row = p.model().row_begin(h, state) + action;
    left += p.model().value(axis.signal, row);
    state = p.model().arrays().next[p.model().outcome_begin(row)];
    controller.observe(state);
  }
  EXPECT_TRUE(controller.ended());
}

// Two outcomes lead to state 1; the second spends two units of the budget.
Problem random_spending(Uncertainty uncertainty) {
  ModelBuilder builder(3, {"cost"});
  ModelBuilder::RowData row{.reward = 0, .signals = {}, .outcomes = {}};
  row.outcomes = {{.next = 1, .probability = 0.5, .signals = {1.0}},
                  {.next = 1, .probability = 0.5, .signals = {2.0}}};
  builder.add(0, 0, 4, row);
  builder.add(0, 1, 4,
              {.reward = 1, .signals = {1.0}, .outcomes = {{.next = 1, .probability = 1}}});
  builder.add(0, 2, 4,
              {.reward = 1, .signals = {0.0}, .outcomes = {{.next = 2, .probability = 1}}});
  Terms terms;
  terms.horizon = 3;
  terms.constraints = {at_most("cost", 3.5)};
  terms.uncertainty = std::move(uncertainty);
  return Problem(builder.build(), terms);
}

TEST(Controller, AsksForTheOutcomeWhereTheStateIsNotEnough) {
  const Problem p = random_spending(KL{0.1});
  const Policy policy = rcvi(p).policy;
  Controller controller(p, policy);
  controller.start();
  EXPECT_EQ(controller.act(0), 4);
  const int stage = controller.stage();
  EXPECT_THAT(error_of([&] { controller.observe(1); }), HasSubstr("observe the outcome"));
  EXPECT_EQ(controller.stage(), stage);  // an error changes nothing
  EXPECT_THAT(error_of([&] { controller.observe_outcome(4, 2); }),
              HasSubstr("outcome 2 of (state 0, action 4), must be in 0..1"));
  controller.observe_outcome(4, 1);
  EXPECT_EQ(controller.stage(), 1);
  // A policy without memory does not care which outcome it was.
  const Policy markov = robust(p).policy;
  Controller forgetful(p, markov);
  forgetful.act(0);
  forgetful.observe(1);
  EXPECT_EQ(forgetful.stage(), 1);
}

TEST(Controller, SignalsTellOutcomesApart) {
  const Problem p = random_spending(KL{0.1});
  const Policy policy = rcvi(p).policy;
  const BudgetAxis& axis = policy.budget[0];
  for (const double cost : {1.0, 2.0}) {
    Controller told(p, policy), counted(p, policy);
    told.act(0), counted.act(0);
    told.observe(1, {{"cost", cost}});
    counted.observe_outcome(4, cost == 1.0 ? 0 : 1);
    told.act(1), counted.act(1);
    EXPECT_EQ(told.memory(), counted.memory());
    EXPECT_EQ(told.unmodelled(), 0);
  }
  Controller controller(p, policy);
  controller.act(0);
  EXPECT_THAT(error_of([&] {
                controller.observe(1, {{"fuel", 1.0}});
              }),
              HasSubstr("observed signal 'fuel', the model has no signal of that name"));
  EXPECT_THAT(error_of([&] {
                controller.observe(1, {{"cost", 1.5}});
              }),
              HasSubstr("no outcome of (state 0, action 4) has them"));
  // Whoever goes on takes off the budget what was really spent.
  Controller goes_on(p, policy, 0, 0, Unmodelled::go_on);
  goes_on.act(0);
  goes_on.observe(1, {{"cost", 3.0}});
  goes_on.act(1);
  EXPECT_EQ(goes_on.unmodelled(), 1);
  EXPECT_NEAR(axis.requirement(1, goes_on.memory()), -0.5, axis.step + 1e-9);
}

// Two safe states and two daring ones; memory 0 dares where it can, memory 1 never does.
TEST(Controller, GoesOnWithTheMemoryThatPromisesTheConstraintsMost) {
  ModelBuilder builder(3, {"cost"});
  for (State s = 0; s < 3; ++s) {
    const State to = s == 0 ? 1 : s;
    builder.add(0, s, 0, {.reward = 0, .outcomes = {{.next = to, .probability = 1}}});
    builder.add(0, s, 1,
                {.reward = 1, .signals = {1.0}, .outcomes = {{.next = to, .probability = 1}}});
  }
  Terms terms;
  terms.horizon = 2;
  terms.constraints = {at_most("cost", 2)};
  const Problem p(builder.build(), terms);
  Policy policy;
  policy.states = 3;
  for (int h = 0; h < 2; ++h) {
    StageBuilder stage({.moves_by_table = true});
    for (int node = 0; node < 6; ++node) {
      stage.choose(node % 2 == 0 ? 1 : 0, 1.0);
      stage.move({h == 1 ? 0 : node % 2, 1.0});
      stage.end_outcome();
      stage.end_node();
    }
    policy.stages.push_back(stage.take());
    policy.stages.back().memory = 2;
  }
  policy.start_states = {0};
  policy.start_begin = {0, 1};
  policy.start_moves = {{0, 1.0}};
  Controller strict(p, policy);
  EXPECT_EQ(strict.act(0), 1);
  EXPECT_THAT(error_of([&] { strict.observe(2); }), HasSubstr("never leads there"));
  Controller goes_on(p, policy, 0, 0, Unmodelled::go_on);
  EXPECT_EQ(goes_on.act(0), 1);
  goes_on.observe(1);  // foreseen: it dares again
  EXPECT_EQ(goes_on.act(1), 1);
  EXPECT_EQ(goes_on.unmodelled(), 0);
  goes_on.start();
  EXPECT_EQ(goes_on.act(0), 1);
  goes_on.observe(2);
  EXPECT_EQ(goes_on.act(2), 0);
  goes_on.observe(0);  // where the horizon ends nothing is to be remembered
  EXPECT_EQ(goes_on.unmodelled(), 2);
  goes_on.start();
  EXPECT_EQ(goes_on.act(1), 0);  // nor did it foresee this start
  EXPECT_EQ(goes_on.unmodelled(), 3);
  const Policy markov = robust(p).policy;
  Controller forgetful(p, markov, 0, 0, Unmodelled::go_on);
  forgetful.act(0);
  forgetful.observe(2);
  EXPECT_EQ(forgetful.act(2), 1);
  EXPECT_EQ(forgetful.unmodelled(), 1);
}

TEST(Controller, LandsOutsideOfTheRowWhereTheSetAllowsIt) {
  const Problem inside = random_spending(KL{0.1});
  const Policy policy = rcvi(inside).policy;
  Controller controller(inside, policy);
  controller.act(0);
  EXPECT_THAT(error_of([&] { controller.observe(2); }),
              HasSubstr("next state 2, (state 0, action 4) never leads there"));
  const Problem anywhere = random_spending(TV{0.1});
  const Policy wide = rcvi(anywhere).policy;
  Controller lands(anywhere, wide);
  lands.act(0);
  lands.observe(2);  // earns the row's own signals: nothing is spent
  EXPECT_EQ(lands.act(2), 4);
  EXPECT_NEAR(wide.budget[0].requirement(1, lands.memory()), -3.5, 1.0);
}

TEST(Controller, SaysWhatIsWrong) {
  const Problem p = make("river_swim(horizon=2,start=1)");
  const Policy policy = rcvi(p).policy;
  Controller controller(p, policy);
  EXPECT_THAT(error_of([&] { controller.observe(0); }), HasSubstr("call act first"));
  EXPECT_THAT(error_of([&] { controller.act(6); }), HasSubstr("state 6, must be in 0..5"));
  controller.act(1);
  EXPECT_THAT(error_of([&] { controller.observe(7, 0); }),
              HasSubstr("action 7, state s1 has no such action"));
  controller.observe(0);
  EXPECT_THAT(error_of([&] { controller.act(1); }),
              HasSubstr("state 1, the last observation led to state 0"));
  controller.act(0);
  controller.observe(0);
  EXPECT_THAT(error_of([&] { controller.act(0); }), HasSubstr("the horizon is over"));
  controller.start();
  controller.act(1);
}

TEST(Controller, TerminalStateHasNothingToDo) {
  const Problem p = testing::random_problem(1, {.terminal = true});
  const Policy policy = robust(p).policy;
  Controller controller(p, policy);
  EXPECT_THAT(error_of([&] { controller.act(4); }), HasSubstr("terminal"));
}

}  // namespace
}  // namespace redoubt
