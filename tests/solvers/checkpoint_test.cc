#include "redoubt/advanced/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "redoubt/advanced/file.h"
#include "redoubt/compare.h"
#include "redoubt/environments.h"
#include "redoubt/frontier.h"
#include "redoubt/gradient.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/folders.h"

namespace redoubt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Method {
  const char* name;
  const char* problem;
  std::function<Solution(const Problem&, const Execution&)> run;
  int patience = 2;  // how often it may ask before it is stopped
};
void PrintTo(const Method& method, std::ostream* out) { *out << method.name; }

template <class Options>
Method method(const char* name, const char* problem,
              Solution (*run)(const Problem&, const Options&, const Execution&),
              const Options& options, int patience = 2) {
  return {name, problem, [=](const Problem& p, const Execution& e) { return run(p, options, e); },
          patience};
}

constexpr const char* kRiver = "river_swim(horizon=10,start=3)";
constexpr const char* kNominal = "river_swim(horizon=10,start=3,bound=2,set=none)";
constexpr const char* kEndless = "river_swim(start=2,discount=0.8)";
constexpr const char* kShared = "river_swim(horizon=10,start=3,scope=state)";
const GradientOptions kSteps{.step = 0.05, .iterations = 40, .inner = 7};

std::vector<Method> methods() {
  return {
      method("rcvi", kRiver, &rcvi, RcviOptions{}),
      method("rcvi_of_an_infinite_horizon", kEndless, &rcvi, RcviOptions{.budget_step = 0.2}),
      method("robust", kRiver, &robust, RobustOptions{}),
      // Of many states, so that it takes several sweeps to find the best actions.
      method("robust_of_an_infinite_horizon",
             "garnet(states=60,actions=5,successors=4,horizon=infinite,discount=0.97,set=kl,"
             "radius=0.1,start=0)",
             &robust, RobustOptions{}),
      method("nominal", kRiver, &nominal, RobustOptions{}),
      method("frontier", kRiver, &frontier, FrontierOptions{.tolerance = 1e-7}, 25),
      method("frontier_of_an_infinite_horizon", "river_swim(start=3)", &frontier,
             FrontierOptions{.tolerance = 1e-5}, 20),
      method("frontier_without_uncertainty", kNominal, &frontier,
             FrontierOptions{.tolerance = 1e-7}, 40),
      method("frontier_of_scope_state", kShared, &frontier, FrontierOptions{.tolerance = 1e-5}, 20),
      method("rcvi_of_scope_state", kShared, &rcvi, RcviOptions{}),
      method("rnpg", kEndless, &rnpg, kSteps), method("crpo", kRiver, &crpo, kSteps),
      method("epirc", kEndless, &epirc, kSteps), method("rppg", kRiver, &rppg, kSteps),
      method("primal_dual", kEndless, &primal_dual, kSteps),
      method("rrpo", kEndless, &rrpo, kSteps)};
}

// Times are what an interruption may change.
void forget_times(Solution& solution) {
  solution.seconds = 0;
  solution.trace.seconds.clear();
}

std::filesystem::path fresh(const std::string& name) {
  const auto folder = testing::binary_folder() / "checkpoints" / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder / name;
}

class EveryMethod : public ::testing::TestWithParam<Method> {};

// Runs the method again and again, each time for one more step than the last run got to, until it
// is done: every boundary is one from which it goes on.
TEST_P(EveryMethod, GoesOnFromAnyBoundaryToTheSameBits) {
  const Problem problem = make(GetParam().problem);
  Solution undisturbed = GetParam().run(problem, {});
  const auto path = fresh(std::string(GetParam().name) + ".h5");
  int runs = 0, boundaries = 0;
  for (Solution solution;; ++runs) {
    // A slow machine is asked more often, within a step: only steps count.
    int steps = 0;
    double before = -1;
    const auto go_on = [&](double done) {
      steps += done != before ? 1 : 0;
      before = done;
      return steps <= GetParam().patience;
    };
    const Execution execution{
        .threads = 1 + runs % 2, .progress = go_on, .checkpoint = checkpoint_file(path, 0)};
    solution = GetParam().run(problem, execution);
    boundaries += std::filesystem::exists(path) ? 1 : 0;
    if (solution.unfinished) {
      ASSERT_LT(runs, 1000);
      continue;
    }
    forget_times(solution);
    forget_times(undisturbed);
    EXPECT_EQ(solution, undisturbed);
    break;
  }
  EXPECT_GT(runs, 2);
  EXPECT_GE(boundaries, runs);
}

TEST_P(EveryMethod, RefusesTheStateOfAnotherProblem) {
  const auto path = fresh(std::string(GetParam().name) + "_other.h5");
  int asked = 0;
  GetParam().run(make(GetParam().problem), {.progress = [&](double) { return ++asked <= 60; },
                                            .checkpoint = checkpoint_file(path, 0)});
  ASSERT_TRUE(std::filesystem::exists(path));
  Problem other = make(GetParam().problem);
  Terms terms = other.terms();
  terms.uncertainty = KL{0.0500001};
  EXPECT_THAT(testing::error_of([&] {
                GetParam().run(other.with(terms), {.checkpoint = checkpoint_file(path, 0)});
              }),
              AllOf(HasSubstr(path.string()), HasSubstr("holds the state of"),
                    HasSubstr("must be of"), HasSubstr(" states, ")));
}

INSTANTIATE_TEST_SUITE_P(Checkpoint, EveryMethod, ::testing::ValuesIn(methods()),
                         [](const auto& test) { return std::string(test.param.name); });

// Before the passes of a search come questions that need none, and a bound by the nominal model. A
// stop there is told, and the work can be taken up again.
TEST(Checkpoint, GoesOnAfterAStopBeforeTheSearch) {
  const Problem problem =
      make("garnet(states=12,actions=3,successors=4,horizon=5,start=7,bound=15,set=kl,radius=0.1)");
  const FrontierOptions options{.tolerance = 1e-4};
  Solution undisturbed = frontier(problem, options);
  ASSERT_EQ(undisturbed.status, Status::certified);
  EXPECT_FALSE(undisturbed.unfinished);
  forget_times(undisturbed);
  for (const int patience : {0, 3, 7, 12}) {
    SCOPED_TRACE(patience);
    const auto path = fresh("early.h5");
    int asked = 0;
    Execution execution;
    execution.checkpoint = checkpoint_file(path, 0);
    execution.progress = [&](double) { return ++asked <= patience; };
    EXPECT_TRUE(frontier(problem, options, execution).unfinished);
    Solution continued = frontier(problem, options, {.checkpoint = checkpoint_file(path, 0)});
    forget_times(continued);
    EXPECT_EQ(continued, undisturbed);
  }
}

TEST(Checkpoint, RefusesTheStateOfOtherOptions) {
  const auto path = fresh("options.h5");
  const Problem problem = make(kRiver);
  int asked = 0;
  rcvi(problem, {},
       {.progress = [&](double) { return ++asked <= 3; }, .checkpoint = checkpoint_file(path, 0)});
  const auto refused = [&](const RcviOptions& options) {
    return testing::error_of(
        [&] { rcvi(problem, options, {.checkpoint = checkpoint_file(path)}); });
  };
  EXPECT_THAT(refused({.slack = 0.25}), AllOf(HasSubstr("slack=0,"), HasSubstr("slack=0.25,")));
  EXPECT_THAT(refused({.fallback = Fallback::utility}), HasSubstr("must be of"));
  EXPECT_THAT(refused({.budget_step = 0.1}), HasSubstr("must be of"));
  EXPECT_THAT(refused({.budget_cells = 7}), HasSubstr("must be of"));
  EXPECT_THAT(refused({.rounding = Rounding::mixed}), HasSubstr("must be of"));
  EXPECT_NO_THROW(rcvi(problem, {.memory_limit = 1e9}, {.checkpoint = checkpoint_file(path)}));
}

TEST(Checkpoint, IsWrittenAsOftenAsAskedAndNoOftener) {
  const auto path = fresh("interval.h5");
  rcvi(make(kRiver), {}, {.checkpoint = checkpoint_file(path, 1000)});
  EXPECT_FALSE(std::filesystem::exists(path));
  rcvi(make(kRiver), {}, {.checkpoint = checkpoint_file(path, 0)});
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_THAT(testing::error_of([&] { checkpoint_file(path, -1); }),
              HasSubstr("checkpoint_interval = -1"));
}

TEST(Checkpoint, IsRemovedWithItsParts) {
  const auto path = fresh("parts.h5");
  const auto checkpoint = checkpoint_file(path, 0);
  const auto part = checkpoint->part("bound");
  const Checkpoint::State nothing = [](Archive&) {};
  checkpoint->save("a", nothing);
  part->save("b", nothing);
  EXPECT_TRUE(std::filesystem::exists(path.string() + ".bound"));
  checkpoint->remove();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".bound"));
}

TEST(Checkpoint, IsNeitherASolutionNorTheOtherWayRound) {
  const auto path = fresh("solution.h5");
  checkpoint_file(path)->save("work", [](Archive&) {});
  EXPECT_THAT(testing::error_of([&] { load_solution(path); }), HasSubstr("is a checkpoint"));
  save_solution(robust(make(kRiver)), path);
  EXPECT_THAT(
      testing::error_of([&] { robust(make(kRiver), {}, {.checkpoint = checkpoint_file(path)}); }),
      HasSubstr("is not a checkpoint"));
  write_file(path, "damaged");
  EXPECT_THAT(
      testing::error_of([&] { robust(make(kRiver), {}, {.checkpoint = checkpoint_file(path)}); }),
      HasSubstr("has no seal"));
}

TEST(Checkpoint, OfAComparisonGoesOnToTheSameTable) {
  const auto path = fresh("comparison.h5");
  const Problem problem = make(kRiver);
  std::vector<Contestant> contestants;
  for (const double step : {0.01, 0.1})
    contestants.push_back({std::to_string(step),
                           [step](const Problem& p, const Execution& e) {
                             return crpo(p, {.step = step, .iterations = 60}, e);
                           },
                           true});
  const auto without_times = [&](const Comparison& comparison) {
    Comparison copy = comparison;
    for (ComparisonLine& line : copy.lines)
      std::fill(line.solution.trace.seconds.begin(), line.solution.trace.seconds.end(), 0.0);
    return trace_csv(problem, copy);
  };
  int asked = 0;
  const Comparison half = compare(problem, contestants,
                                  {.threads = 2,
                                   .progress = [&](double) { return ++asked < 50; },
                                   .checkpoint = checkpoint_file(path, 0)});
  EXPECT_TRUE(half.lines[1].solution.unfinished);
  const Comparison whole = compare(problem, contestants, {.checkpoint = checkpoint_file(path, 0)});
  EXPECT_EQ(without_times(whole), without_times(compare(problem, contestants)));
}

}  // namespace
}  // namespace redoubt
