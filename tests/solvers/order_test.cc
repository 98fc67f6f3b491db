// States in another order in memory: the same bits.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/part.h"
#include "redoubt/evaluate.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/on_ranks.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::kEverySet;
using testing::RandomOptions;
using testing::SolvePart;

Solution without_times(Solution solution) {
  solution.seconds = 0;
  solution.trace.seconds.clear();
  return solution;
}

// Whole answers, policies and traces included, by one and by two threads.
void expect_same_in_any_order(const Problem& problem, const SolvePart& solve) {
  const Solution given = without_times(solve(problem, {}));
  for (const int threads : {1, 2}) {
    SCOPED_TRACE(threads);
    const auto order = testing::shuffled(problem.model().states(), threads);
    EXPECT_EQ(without_times(solve(renumbered(problem, order), {.threads = threads})), given);
  }
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class AnyOrder : public ::testing::TestWithParam<int> {
 protected:
  const Uncertainty& set() const { return kEverySet[GetParam()]; }
  Problem problem(std::uint64_t seed, int constraints = 1) const {
    RandomOptions options;
    options.states = 40;
    options.horizon = 4;
    options.signals = options.constraints = constraints;
    options.uncertainty = set();
    options.names = seed % 2 == 1;
    return testing::random_problem(seed, testing::shaped(options, seed));
  }
  Problem endless(std::uint64_t seed) const {
    RandomOptions options;
    options.states = 23;
    options.horizon.reset();
    options.discount = 0.8;
    options.uncertainty = set();
    options.random_start = true;
    return testing::random_problem(seed, options);
  }
};

TEST_P(AnyOrder, HasTheAnswersOfRcvi) {
  for (std::uint64_t seed = 0; seed < 16; seed += 3) {
    SCOPED_TRACE(seed);
    for (const Rounding rounding : {Rounding::up, Rounding::mixed}) {
      expect_same_in_any_order(problem(seed), [&](const Problem& p, const Execution& e) {
        return rcvi(p, {.budget_step = 0.17, .rounding = rounding}, e);
      });
    }
  }
  expect_same_in_any_order(problem(5, 2), [](const Problem& p, const Execution& e) {
    return rcvi(p, {.budget_cells = 5}, e);
  });
  expect_same_in_any_order(endless(2), [](const Problem& p, const Execution& e) {
    return rcvi(p, {.budget_cells = 10, .tolerance = 1e-2}, e);
  });
}

TEST_P(AnyOrder, HasTheAnswersOfValueIteration) {
  for (const Problem& p : {problem(0), problem(7), problem(14), problem(3, 0), endless(1)}) {
    expect_same_in_any_order(p, robust);
    expect_same_in_any_order(p, nominal);
  }
}

TEST_P(AnyOrder, HasTheValuesOfAPolicy) {
  for (const Problem& p : {problem(0), problem(5), problem(14)}) {
    for (const Policy& policy :
         {testing::random_markov_policy(1, p), testing::random_budget_policy(2, p, Rounding::up),
          testing::random_budget_policy(2, p, Rounding::mixed),
          testing::random_table_policy(3, p)}) {
      const Evaluation given = evaluate(p, policy);
      const Problem other = renumbered(p, testing::shuffled(p.model().states()));
      for (const int threads : {1, 2}) {
        const Evaluation found = evaluate(other, policy, {.threads = threads});
        EXPECT_EQ(found.reward, given.reward);
        EXPECT_EQ(found.constraints, given.constraints);
        EXPECT_EQ(found.hopeless, given.hopeless);
      }
    }
  }
}

// A policy that takes its first action everywhere, because there was no time for another.
TEST_P(AnyOrder, HasTheAnswerOfWorkThatIsStopped) {
  const auto stop_at_once = [](const Problem& p, Execution execution) {
    execution.time_limit = 0;
    return robust(p, execution);
  };
  const Problem p = problem(9);
  EXPECT_EQ(stop_at_once(renumbered(p, testing::shuffled(p.model().states())), {}).policy,
            stop_at_once(p, {}).policy);
}

// Files, and states of work that goes on in the other order.
TEST_P(AnyOrder, WritesTheSameBytes) {
  const Problem given = problem(6);
  const Problem other = renumbered(given, testing::shuffled(given.model().states()));
  // By number: tv is there twice, and tests run beside each other.
  const auto folder =
      std::filesystem::path(REDOUBT_BINARY_DIR) / "orders" / std::to_string(GetParam());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const RcviOptions options{.budget_step = 0.17};
  const Solution undisturbed = without_times(rcvi(given, options));
  const Problem* const orders[] = {&given, &other};
  for (const bool on_disk : {false, true}) {
    const auto store = on_disk ? stages_on_disk(folder) : nullptr;
    int runs = 0;
    for (;; ++runs) {
      ASSERT_LT(runs, 20);
      int asked = 0;
      Execution execution;
      execution.checkpoint = checkpoint_file(folder / "state.h5", 0);
      execution.progress = [&](double) { return ++asked <= 1; };
      execution.stages = store.get();
      Solution solution = rcvi(*orders[runs % 2], options, execution);
      if (solution.status == Status::stopped) continue;
      for (std::size_t h = 0; store && h < solution.policy.stages.size(); ++h)
        solution.policy.stages[h] = store->get(static_cast<int>(h));
      EXPECT_EQ(without_times(solution), undisturbed);
      break;
    }
    EXPECT_GE(runs, 2);
    std::filesystem::remove(folder / "state.h5");
  }
  const Solution again = without_times(rcvi(other, options));
  save_solution(undisturbed, folder / "given.h5");
  save_solution(again, folder / "other.h5");
  EXPECT_EQ(bytes_of(folder / "other.h5"), bytes_of(folder / "given.h5"));
}

INSTANTIATE_TEST_SUITE_P(Sets, AnyOrder,
                         ::testing::Range(0, static_cast<int>(std::size(kEverySet))));

}  // namespace
}  // namespace redoubt
