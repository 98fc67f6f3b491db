#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "io/solution/hdf5.h"
#include "io/solution/parts_hdf5.h"
#include "io/solution/seal.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/folders.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

namespace fs = std::filesystem;
using testing::error_of;

class SolutionFile : public ::testing::Test {
 protected:
  SolutionFile() : path_(testing::own_path("solution.h5")) {}
  ~SolutionFile() override { fs::remove(path_); }

  Solution there_and_back(const Solution& solution) const {
    save_solution(solution, path_);
    return load_solution(path_);
  }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void replace_bytes(const std::string& content) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
  }
  std::string error() const {
    return error_of([&] { load_solution(path_); });
  }
  fs::path path_;
};

// A policy by tables with memory, random moves and landing plans: two states, two stages.
Policy table_policy() {
  Policy p;
  p.states = 2;
  Policy::Stage stage;
  stage.memory = 2;
  stage.choice_begin = {0, 2, 3, 4, 4};
  stage.choice_action = {0, 2, 1, 0};
  stage.choice_weight = {0.25, 0.75, 1, 1};
  stage.outcome_slot = {0, 2, 0, 2};
  stage.move_begin = {0, 1, 3, 4, 5};
  stage.moves = {{0, 1}, {0, 1.0 / 3}, {1, 2.0 / 3}, {1, 1}, {0, 1}};
  stage.landing_begin = {0, 1, 2};
  stage.landing_moves = {{1, 1}, {0, 1}};
  p.stages.push_back(stage);
  stage.node_begin = {0, 3, 4};
  p.stages.push_back(stage);
  p.repeats_last = true;
  p.start_states = {1};
  p.start_begin = {0, 2};
  p.start_moves = {{0, 0.5}, {1, 0.5}};
  BudgetAxis axis;
  axis.constraint = 1;
  axis.signal = 2;
  axis.sign = -1;
  axis.bound = 0.1;
  axis.step = 1.0 / 3;
  axis.discount = 0.9;
  axis.exact = true;
  axis.rounding = Rounding::mixed;
  axis.low = {-3, 0};
  axis.cells = {2, 1};
  axis.slack = {0.25, 0};
  p.budget = {axis, axis};
  p.start_memory = 1;
  return p;
}

Solution full_solution() {
  Solution s;
  s.status = Status::stopped;
  s.method = "made \"up\", é世界";
  s.reward = {0.1, 1.0 / 3, -std::numeric_limits<double>::infinity()};
  s.constraints = {{"cost", Sense::at_most, 4, 0.95, 3.9999999999999996, true, 1e-300},
                   {"energy", Sense::at_least, -0.0, {}, 5e-324, false, {}}};
  s.hopeless = 0.125;
  s.policy = table_policy();
  s.trace = {{1, 2}, {10, 20}, {0.5, 0.25}, {1, 2}, {9, 8}, {{3, 4}, {}, {5}}};
  s.curve = {{1, {2, 3}, 7}, {4, {}, 0}, {5, {6, 7}, 1}};
  s.seconds = 1.5;
  s.row_evaluations = 1e15;
  s.iterations = 123456789012;
  s.cut = 17;
  s.unfinished = true;
  s.notes = {"a note", ""};
  return s;
}

TEST_F(SolutionFile, KeepsEveryField) {
  const Solution s = full_solution();
  // A new field stops this from compiling: save it too, and put a value for it above.
  [[maybe_unused]] const auto& [status, method, reward, constraints, hopeless, policy, trace, curve,
                                seconds, row_evaluations, iterations, cut, unfinished, notes] = s;
  [[maybe_unused]] const auto& [t1, t2, t3, t4, t5, t6] = trace;
  [[maybe_unused]] const auto& [c1, c2, c3] = curve[0];
  [[maybe_unused]] const auto& [r1, r2, r3] = reward;
  [[maybe_unused]] const auto& [k1, k2, k3, k4, k5, k6, k7] = constraints[0];
  [[maybe_unused]] const auto& [p1, p2, p3, p4, p5, p6, p7, p8] = policy;
  [[maybe_unused]] const auto& [s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11] = policy.stages[0];
  [[maybe_unused]] const auto& [a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = policy.budget[0];
  EXPECT_EQ(there_and_back(s), s);
}

TEST_F(SolutionFile, KeepsAnEmptySolution) {
  Solution s;
  s.policy.states = 1;
  EXPECT_EQ(there_and_back(s), s);
}

TEST_F(SolutionFile, KeepsTheAnswersOfRcvi) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto horizon = static_cast<int>(seed % 4);
    const Problem p = testing::random_problem(
        seed, {.horizon = horizon, .ragged = seed % 2 == 0, .outcome_values = seed % 3 == 0});
    const Solution s = rcvi(p, {.rounding = seed % 2 == 0 ? Rounding::up : Rounding::mixed});
    EXPECT_EQ(there_and_back(s), s) << seed;
  }
}

TEST_F(SolutionFile, LeavesNothingBesideItself) {
  there_and_back(full_solution());
  for (const auto& entry : fs::directory_iterator(path_.parent_path()))
    EXPECT_EQ(entry.path().string().find(path_.string() + "."), std::string::npos);
}

TEST_F(SolutionFile, CannotBeWrittenWhereThereIsNoFolder) {
  EXPECT_EQ(error_of([] { save_solution(full_solution(), "/no/such/folder/s.h5"); }),
            "/no/such/folder/s.h5: cannot be written (No such file or directory)");
}

TEST_F(SolutionFile, EveryChangedBitIsAnError) {
  save_solution(full_solution(), path_);
  const std::string whole = bytes();
  const std::string damaged =
      path_.string() + ": does not match the seal at its end: damaged since it was written";
  for (std::size_t at = 0; at + 24 < whole.size(); at += 7) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    replace_bytes(changed);
    EXPECT_EQ(error(), damaged) << at;
  }
}

TEST_F(SolutionFile, EveryCutOffFileIsAnError) {
  save_solution(full_solution(), path_);
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 50) {
    replace_bytes(whole.substr(0, size));
    EXPECT_EQ(error(),
              path_.string() + ": has no seal at its end: not a solution of redoubt, or cut off")
        << size;
  }
  fs::remove(path_);
  EXPECT_EQ(error(), path_.string() + ": is not there or not a file, must be a file");
}

// A file with a good seal whose content is wrong: the summary of a small solution with one part
// replaced, and what `write` adds.
template <class Write>
std::string error_of_sealed(const fs::path& path, const std::string& part,
                            const std::string& replacement, Write write) {
  std::string summary = R"({"format": "redoubt-solution", "version": 1, "status": "feasible",
    "method": "m", "reward": {"worst": 1, "bound": null, "static_bound": null}, "constraints": [],
    "hopeless": null, "seconds": 1, "row_evaluations": 1, "iterations": 1, "cut": null, "notes": [],
    "policy": {"states": 1, "repeats_last": false, "start_memory": 0, "budget": []},
    "trace_columns": 0})";
  if (!part.empty()) summary.replace(summary.find(part), part.size(), replacement);
  {
    io::hdf5::Output out(path);
    if (!summary.empty()) out.write("summary", std::vector<char>(summary.begin(), summary.end()));
    write(out);
  }
  const std::string seal = io::seal_of(path);
  std::ofstream(path, std::ios::binary | std::ios::app) << seal;
  const std::string error = error_of([&] { load_solution(path); });
  EXPECT_EQ(error.substr(0, path.string().size() + 2), path.string() + ": ");
  return error.substr(std::min(error.size(), path.string().size() + 2));
}

TEST_F(SolutionFile, WrongContentIsOneClearError) {
  using io::hdf5::Output;
  const auto summary_error = [&](const std::string& part, const std::string& replacement) {
    return error_of_sealed(path_, part, replacement, [](Output&) {});
  };
  EXPECT_EQ(summary_error("-solution", "-problem"),
            "format = \"redoubt-problem\", must be \"redoubt-solution\"");
  EXPECT_EQ(summary_error("\"version\": 1", "\"version\": 2"),
            "version = 2, is newer than this program, which reads versions up to 1");
  EXPECT_EQ(summary_error("feasible", "fine"),
            "status = \"fine\", must be one of certified, feasible, violated, infeasible, stopped");
  EXPECT_EQ(summary_error("\"method\": \"m\",", ""), "key 'method' is missing, must be given");
  EXPECT_EQ(summary_error("\"states\": 1", "\"states\": -1"),
            "policy.states = -1, must be a whole number in 0..2147483647");
  EXPECT_EQ(summary_error("\"worst\": 1", "\"worst\": \"high\""),
            "reward.worst = \"high\", must be a number");
  EXPECT_EQ(summary_error("\"repeats_last\": false", "\"repeats_last\": 0"),
            "policy.repeats_last = 0, must be true or false");

  const auto array_error = [&](auto write) { return error_of_sealed(path_, "", "", write); };
  EXPECT_EQ(array_error([](Output& out) { out.write("policy/stages/memory", std::vector{1.0}); }),
            "policy/stages/memory has values of another type than it must have");
  EXPECT_EQ(array_error([](Output& out) { out.write("policy/stages/memory", std::vector{0}); }),
            "memory states 0 of stage 0 of the policy, must be at least 1");
  EXPECT_EQ(array_error([](Output& out) {
              out.write("policy/stages/memory", std::vector{1});
              out.write("policy/stages/choice_begin", std::vector<std::int64_t>{0, 0});
              out.write("policy/stages/choice_begin_begin", std::vector<std::int64_t>{0, 3});
            }),
            "policy/stages/choice_begin_begin must begin at 0, never decrease and end at 2");
  EXPECT_EQ(array_error([](Output& out) { out.write("curve/reward", std::vector{1.0}); }),
            "curve/memory has 0 values, must have 1");
}

TEST_F(SolutionFile, IsNoCheckpointAndTheOtherWayRound) {
  const auto checkpoint = checkpoint_file(path_);
  save_solution(full_solution(), path_);
  EXPECT_EQ(error_of([&] { checkpoint->restore("work", [](Archive&) {}); }),
            path_.string() + ": is not a checkpoint, must be one or be missing");
  checkpoint->save("work", [](Archive&) {});
  EXPECT_EQ(error(), path_.string() + ": is a checkpoint, must be a solution");
}

TEST(PolicyStructure, EveryIndexMustPointInside) {
  const auto error_after = [](auto change) {
    Policy p = table_policy();
    io::check_structure(p);
    change(p);
    return error_of([&] { io::check_structure(p); });
  };
  EXPECT_EQ(error_after([](Policy& p) { p.states = 3; }),
            "choice_begin of stage 0 of the policy has 5 entries, must have 7, from 0 up to 4");
  EXPECT_EQ(error_after([](Policy& p) {
              p.stages[1].node_begin = {0, 5, 4};
            }),
            "node_begin of stage 1 of the policy has 3 entries, must have 3, from 0 up to 4");
  EXPECT_EQ(error_after([](Policy& p) { p.stages[0].choice_weight[0] = std::nan(""); }),
            "action 0 with weight nan at stage 0 of the policy, must be at least 0 and a "
            "probability");
  EXPECT_EQ(error_after([](Policy& p) { p.stages[0].outcome_slot[1] = 4; }),
            "outcome slot 4 of stage 0 of the policy, must be below 4");
  EXPECT_EQ(error_after([](Policy& p) { p.stages[0].moves[0].memory = -1; }),
            "moves of stage 0 of the policy lead to memory -1 with weight 1, must be at least 0 "
            "and a probability");
  EXPECT_EQ(error_after([](Policy& p) {
              p.start_begin = {0, 3};
            }),
            "start_begin of stage 0 of the policy has 2 entries, must have 2, from 0 up to 2");
  EXPECT_EQ(error_after([](Policy& p) { p.budget.emplace_back().step = 0; }),
            "budget step 0, must be positive");
  EXPECT_EQ(error_after([](Policy& p) { p.budget[0].low.pop_back(); }),
            "a budget axis has 2 cells and 1 lows, must be equally many and at least one");
}

}  // namespace
}  // namespace redoubt
