// Work that is stopped at every stage and taken up by another number of ranks each time, which
// divide the states in another way and have them in another order in memory.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "redoubt/advanced/checkpoint.h"
#include "redoubt/advanced/file.h"
#include "redoubt/advanced/io.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/frontier.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/folders.h"
#include "support/methods.h"
#include "support/on_ranks.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::SolvePart;

struct Method {
  const char* name;
  SolvePart run;
  bool infinite = false;
  int constraints = 1;
  Uncertainty set = TV{0.1};
  int patience = 2;  // how many steps it may take before it is stopped
};
constexpr int kForever = std::numeric_limits<int>::max();
void PrintTo(const Method& method, std::ostream* out) { *out << method.name; }

Solution run_rcvi(const Problem& problem, const Execution& execution) {
  return rcvi(problem, {.budget_cells = 12, .tolerance = 0.05}, execution);
}

Solution run_frontier(const Problem& problem, const Execution& execution) {
  return frontier(problem, {.tolerance = 1e-6}, execution);
}

const Method kMethods[] = {
    {"rcvi", run_rcvi},
    {"rcvi_of_an_infinite_horizon", run_rcvi, true},
    {"rcvi_of_two_constraints", run_rcvi, false, 2},
    {"robust", &testing::by_robust},
    {"robust_of_an_infinite_horizon", &testing::by_robust, true, 1, TV{0.1}, 1},
    {"nominal", &testing::by_nominal},
    {"frontier", run_frontier, false, 1, KL{0.1}, 12},
    {"rcvi_of_scope_state", run_rcvi, false, 1, KL{0.1, Scope::state}}};

Problem problem_of(const Method& method) {
  testing::RandomOptions options;
  options.states = 17;
  options.actions = 3;
  options.signals = options.constraints = method.constraints;
  options.uncertainty = method.set;
  options.horizon = 6;
  if (method.infinite) options.horizon.reset(), options.discount = 0.6;
  return testing::random_problem(4, options);
}

std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = testing::binary_folder() / "rank_checkpoints" / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// One run of a few steps. Where the stages of the policy go to a store they are
// taken from there in the end.
Solution run_for(int patience, const Problem& problem, int ranks, const SolvePart& solve,
                 const std::filesystem::path& file, bool on_disk, bool scattered = false) {
  auto parts = testing::solve_on_ranks(
      problem, {ranks, 1 + ranks % 2, scattered}, [&](const Problem& part, Execution execution) {
        // A slow machine is asked more often, within a step: only steps count.
        int steps = 0;
        double before = -1;
        execution.progress = [&](double done) {
          steps += done != before ? 1 : 0;
          before = done;
          return steps <= patience;
        };
        execution.checkpoint = checkpoint_file(file, 0);
        std::unique_ptr<StageStore> store;
        if (on_disk) store = stages_on_disk(file.parent_path());
        execution.stages = store.get();
        Solution solution = solve(part, execution);
        for (std::size_t h = 0; store && h < solution.policy.stages.size(); ++h) {
          Policy::Stage& stage = solution.policy.stages[h];
          const bool handed_over = stage.mixed.empty() && stage.choice_begin.empty();
          if (handed_over) stage = store->get(static_cast<int>(h));
        }
        return solution;
      });
  Solution whole = parts.front();
  whole.policy = testing::join_policies(parts, scattered);
  return whole;
}

void forget_times(Solution& solution) {
  solution.seconds = 0;
  solution.trace.seconds.clear();
}

class RankCheckpoint : public ::testing::TestWithParam<Method> {};

TEST_P(RankCheckpoint, GoesOnToTheSameBitsOnAnotherNumberOfRanksAndDivision) {
  const Problem problem = problem_of(GetParam());
  Solution undisturbed = GetParam().run(problem, {});
  forget_times(undisturbed);
  for (const bool on_disk : {false, true}) {
    SCOPED_TRACE(on_disk ? "stages on disk" : "stages in memory");
    const auto folder = fresh_folder(GetParam().name);
    int runs = 0;
    for (;; ++runs) {
      ASSERT_LT(runs, 100);
      // The last step of frontier looks for a bound, and begins anew when it was stopped.
      const bool frontier = std::holds_alternative<KL>(GetParam().set);
      const int patience = frontier && runs >= 3 ? kForever : GetParam().patience;
      Solution solution = run_for(patience, problem, 1 + (3 * runs + 1) % 4, GetParam().run,
                                  folder / "state.h5", on_disk, runs % 2 == 1);
      if (solution.unfinished) {
        EXPECT_TRUE(std::filesystem::exists(folder / "state.h5"));
        continue;
      }
      forget_times(solution);
      EXPECT_EQ(solution, undisturbed);
      break;
    }
    EXPECT_GE(runs, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoint, RankCheckpoint, ::testing::ValuesIn(kMethods),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RankCheckpoint, OfAnotherProblemIsRefusedByAllRanks) {
  const auto file = fresh_folder("refused") / "state.h5";
  const Method& method = kMethods[0];
  run_for(2, problem_of(method), 3, method.run, file, false);
  for (const int ranks : {1, 3}) {
    EXPECT_THAT(testing::error_of(
                    [&] { run_for(2, problem_of(kMethods[2]), ranks, method.run, file, false); }),
                AllOf(HasSubstr(file.string()), HasSubstr("holds the state of rcvi"),
                      HasSubstr("must be of rcvi"), HasSubstr("17 states")));
  }
  write_file(file, "damaged");
  EXPECT_THAT(
      testing::error_of([&] { run_for(2, problem_of(method), 3, method.run, file, false); }),
      HasSubstr("has no seal"));
}

// One rank's row is another problem for all of them.
TEST(RankCheckpoint, KnowsEveryRow) {
  const auto file = fresh_folder("rows") / "state.h5";
  const Method& method = kMethods[3];
  const Problem problem = problem_of(method);
  for (const Row row : {Row{0}, problem.model().rows() - 1}) {
    std::filesystem::remove(file);
    run_for(2, problem, 2, method.run, file, false);
    ModelArrays arrays = problem.model().arrays();
    arrays.reward[row] += 0.25;
    const Problem other(Model(std::move(arrays)), problem.terms());
    EXPECT_THAT(testing::error_of([&] { run_for(2, other, 2, method.run, file, false); }),
                HasSubstr("holds the state of"));
  }
}

}  // namespace
}  // namespace redoubt
