// Solutions that ranks write together: the same bytes as those of one process, whoever owns which
// states.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "redoubt/advanced/io.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/frontier.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/file.h"
#include "support/folders.h"
#include "support/methods.h"
#include "support/on_ranks.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

namespace fs = std::filesystem;
using testing::Configuration;
using testing::SolvePart;

class RankFiles : public ::testing::Test {
 protected:
  RankFiles() : folder_(testing::own_path("rank_files")) { fs::create_directory(folder_); }
  ~RankFiles() override { fs::remove_all(folder_); }

  static Solution without_times(Solution solution) {
    solution.seconds = 0;
    solution.trace.seconds.clear();
    return solution;
  }

  // What one process writes, and what all configurations write.
  void expect_same_files(const Problem& problem, const SolvePart& solve, bool on_disk) const {
    const Solution one = without_times(solve(problem, {}));
    save_solution(one, folder_ / "one.h5");
    const std::string expected = read_file(folder_ / "one.h5");
    for (const Configuration& configuration : testing::configurations()) {
      SCOPED_TRACE(name(configuration));
      testing::solve_on_ranks(problem, configuration, [&](const Problem& part, Execution e) {
        std::unique_ptr<StageStore> store;
        if (on_disk) store = stages_on_disk(folder_);
        e.stages = store.get();
        const Solution solution = without_times(solve(part, e));
        save_solution(solution, folder_ / "many.h5", part.model(), e);
        return solution;
      });
      EXPECT_TRUE(read_file(folder_ / "many.h5") == expected) << "the bytes differ";
    }
  }

  const fs::path folder_;
};

testing::RandomOptions shape(int constraints) {
  testing::RandomOptions options;
  options.states = 29;
  options.actions = 3;
  options.horizon = 4;
  options.signals = options.constraints = constraints;
  options.uncertainty = KL{0.1};
  return options;
}

TEST_F(RankFiles, OfRcviAreTheSameBytes) {
  for (const int constraints : {1, 2}) {
    const Problem problem = testing::random_problem(3, shape(constraints));
    for (const bool on_disk : {false, true}) {
      expect_same_files(
          problem,
          [](const Problem& p, const Execution& e) { return rcvi(p, {.budget_cells = 6}, e); },
          on_disk);
    }
  }
}

TEST_F(RankFiles, OfValueIterationAreTheSameBytes) {
  testing::RandomOptions options = shape(1);
  expect_same_files(testing::random_problem(3, options), &testing::by_robust, false);
  options.horizon.reset();
  options.discount = 0.8;
  expect_same_files(testing::random_problem(3, options), &testing::by_robust, false);
}

TEST_F(RankFiles, OfFrontierAreTheSameBytes) {
  testing::RandomOptions options = shape(1);
  const auto solve = [](const Problem& p, const Execution& e) {
    return frontier(p, {.tolerance = 1e-3}, e);
  };
  expect_same_files(testing::random_problem(3, options), solve, false);
  options.horizon.reset();
  options.discount = 0.8;
  expect_same_files(testing::random_problem(3, options), solve, false);
  options = shape(1);
  options.states = 5;
  options.horizon = 2;
  options.uncertainty = TV{0.1};  // with plans for landings anywhere
  expect_same_files(testing::random_problem(3, options), solve, false);
}

}  // namespace
}  // namespace redoubt
