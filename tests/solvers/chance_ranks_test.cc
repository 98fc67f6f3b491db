// Chance constraints on any number of ranks and threads: the same bits, the same files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "chance/augment.h"
#include "numerics/small_lp.h"
#include "redoubt/frontier.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/chance_reference.h"
#include "support/expect_error.h"
#include "support/file.h"
#include "support/folders.h"
#include "support/methods.h"
#include "support/on_ranks.h"
#include "support/random_policy.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;
using testing::expect_same_evaluation;
using testing::expect_same_on_ranks;
using ::testing::HasSubstr;
using testing::kEverySet;
using testing::RandomOptions;

RandomOptions shape(std::uint64_t seed, const Uncertainty& set) {
  RandomOptions o{.states = 9, .actions = 2, .successors = 2, .signals = 2, .horizon = 4};
  o.uncertainty = set;
  o = testing::shaped(o, seed);
  o.arrivals = false;  // which several ranks refuse under total variation anywhere
  return o;
}

Solution run_rcvi(const Problem& problem, const Execution& execution) {
  return rcvi(problem, {}, execution);
}
Solution run_frontier(const Problem& problem, const Execution& execution) {
  return frontier(problem, {.tolerance = 1e-2}, execution);
}

class ChanceRanks : public ::testing::TestWithParam<int> {
 protected:
  const Uncertainty& set() const { return kEverySet[GetParam()]; }
  bool lands_anywhere() const {
    const auto* tv = std::get_if<TV>(&set());
    return tv && tv->reach == Reach::anywhere;
  }
  // Where nature may land anywhere a row has as many outcomes as there are states.
  Problem problem(std::uint64_t seed) const {
    RandomOptions options = shape(seed, set());
    if (lands_anywhere()) options.states = 5, options.horizon = 3;
    return testing::random_chance_problem(seed, options);
  }
};

// The augmented model is the whole one, cut.
TEST_P(ChanceRanks, BuildTheirPartsOfTheAugmentedProblem) {
  for (const std::uint64_t seed : {0, 1, 4, 6, 7}) {
    SCOPED_TRACE(seed);
    const Problem whole = problem(seed);
    const AugmentedProblem expected = augment(whole);
    for (const testing::Configuration& configuration : testing::configurations()) {
      SCOPED_TRACE(name(configuration));
      std::vector<AugmentedProblem> parts(configuration.ranks, expected);
      testing::solve_on_ranks(whole, configuration, [&](const Problem& p, const Execution& e) {
        Workers workers(e);
        parts[e.ranks->rank()] = augment(p, workers);
        return Solution{};
      });
      State own = 0;
      for (const AugmentedProblem& part : parts) {
        const Submodel& about = *part.problem.model().arrays().submodel;
        EXPECT_EQ(about.states, expected.problem.model().states());
        EXPECT_EQ(part.budget, expected.budget);
        EXPECT_EQ(part.problem.model().actions(), expected.problem.model().actions());
        own += part.problem.model().own_states();
        for (std::size_t s = 0; s < about.number.size(); ++s) {
          EXPECT_EQ(part.state[s], expected.state[about.number[s]]);
          EXPECT_EQ(part.kept[0][s], expected.kept[0][about.number[s]]);
        }
        // No rank has more than its own pairs, those that they lead to, and the start.
        Partition partition(std::vector<State>(configuration.ranks + 1, about.states));
        partition.owner.assign(about.states, -1);
        for (const AugmentedProblem& other : parts) {
          const Model& model = other.problem.model();
          for (State s = 0; s < model.own_states(); ++s)
            partition.owner[model.arrays().submodel->number[model.own(s)]] =
                model.arrays().submodel->rank;
        }
        EXPECT_TRUE(subproblem(expected.problem, partition, about.rank) == part.problem);
      }
      EXPECT_EQ(own, expected.problem.model().states());
    }
  }
}

TEST_P(ChanceRanks, DoNotChangeRcvi) {
  for (const std::uint64_t seed : {1, 4, 6}) {
    SCOPED_TRACE(seed);
    expect_same_on_ranks(problem(seed), run_rcvi);
  }
}

TEST_P(ChanceRanks, DoNotChangeFrontier) {
  if (std::holds_alternative<Tilt>(set())) return;
  for (const std::uint64_t seed : {1, 2, 4}) {
    if (seed == 2 && std::holds_alternative<KL>(set())) continue;  // takes many passes
    SCOPED_TRACE(seed);
    expect_same_on_ranks(problem(seed), run_frontier);
  }
}

// Of policies that remember the budget, something else, or nothing.
TEST_P(ChanceRanks, DoNotChangeAnEvaluation) {
  const Problem whole = problem(4);
  expect_same_evaluation(whole, rcvi(whole).policy);
  expect_same_evaluation(whole, testing::random_markov_policy(3, whole));
  expect_same_evaluation(whole, testing::random_table_policy(3, whole));
  expect_same_on_ranks(problem(1), testing::by_robust);
}

INSTANTIATE_TEST_SUITE_P(Sets, ChanceRanks,
                         ::testing::Range(0, static_cast<int>(kEverySet.size())));

// Two chance constraints and one on an expectation; totals that are rounded, and discounted.
TEST(ChanceRanks, DoNotChangeSeveralOrRoundedConstraints) {
  RandomOptions options = shape(2, KL{0.05});
  options.constraints = 2;
  options.states = 6;
  options.horizon = 3;
  const Problem one = testing::random_chance_problem(7, options);
  Terms terms = one.terms();
  terms.constraints.push_back(with_probability(at_least("cost1", 1), 0.3));
  terms.constraints[0].probability = 0.2;
  expect_same_on_ranks(one.with(terms), run_rcvi);
  expect_same_on_ranks(one.with(terms), run_frontier);

  options.constraints = 1;
  const Problem rough = testing::random_problem(4, options);
  terms = rough.terms();
  terms.constraints = {with_probability(at_most("cost0", 2), 0.5)};
  for (const double discount : {1.0, 0.9}) {
    terms.discount = discount;
    expect_same_on_ranks(rough.with(terms), run_rcvi);
    expect_same_on_ranks(rough.with(terms), run_frontier);
  }
}

TEST(ChanceRanks, MayHaveNoStatesOrNoStages) {
  RandomOptions options = shape(0, TV{0.15});
  options.states = 2;
  const Problem small = testing::random_chance_problem(3, options);
  expect_same_on_ranks(small, run_rcvi);
  expect_same_on_ranks(small, run_frontier);
  Terms terms = small.terms();
  terms.horizon = 0;
  expect_same_on_ranks(small.with(terms), run_rcvi);
}

// The answer itself: the best mixture of all deterministic policies that remember everything.
TEST(ChanceRanks, FindTheBestHistoryPolicies) {
  RandomOptions options = shape(0, Nominal{});
  options.states = options.horizon.emplace(3);
  Terms terms = testing::random_chance_problem(2, options).terms();
  terms.constraints[0].probability = 0.6;
  const Problem problem = testing::random_chance_problem(2, options).with(terms);
  std::vector<double> reward, kept;
  for (const auto& value : testing::deterministic_history_policies(problem))
    reward.push_back(value.reward), kept.push_back(value.kept);
  const std::vector<double> required = {0.6};
  const double best = best_constrained_mix({reward, {kept}, required}).reward;
  const auto parts = testing::solve_on_ranks(
      problem, {3, 1},
      [](const Problem& p, const Execution& e) { return frontier(p, {.tolerance = 1e-6}, e); });
  for (const Solution& part : parts) {
    EXPECT_EQ(part.status, Status::certified);
    EXPECT_NEAR(part.reward.worst, best, 2e-6 * std::max(1.0, std::abs(best)));
  }
}

TEST(ChanceRanks, TellAllOfThemWhatIsWrong) {
  RandomOptions options = shape(0, KL{0.1});
  options.stage_dependent = false;
  const Problem problem = testing::random_chance_problem(3, options);
  Terms terms = problem.terms();
  terms.horizon.reset();
  terms.discount = 0.9;
  EXPECT_THAT(error_of([&] {
                testing::solve_on_ranks(problem.with(terms), {3, 1}, run_rcvi);
              }),
              HasSubstr("the chance constraint on 'cost0' has an infinite horizon"));
}

TEST(ChanceRanks, WriteTheFileOfOneProcess) {
  const auto folder = testing::binary_folder();
  const Problem problem = testing::random_chance_problem(5, shape(5, TV{0.15}));
  const auto without_times = [](Solution solution) {
    solution.seconds = 0;
    solution.trace.seconds.clear();
    return solution;
  };
  save_solution(without_times(rcvi(problem)), folder / "chance-one.h5");
  for (const testing::Configuration& configuration :
       {testing::Configuration{3, 1}, testing::Configuration{2, 1, true}}) {
    testing::solve_on_ranks(problem, configuration, [&](const Problem& p, const Execution& e) {
      save_solution(without_times(run_rcvi(p, e)), folder / "chance-many.h5", p.model(), e);
      return Solution{};
    });
    EXPECT_TRUE(read_file(folder / "chance-many.h5") == read_file(folder / "chance-one.h5"))
        << "the bytes differ";
  }
  for (const char* name : {"chance-one.h5", "chance-many.h5"})
    std::filesystem::remove(folder / name);
}

}  // namespace
}  // namespace redoubt
