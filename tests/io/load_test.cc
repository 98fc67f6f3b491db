#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "redoubt/advanced/checkpoint.h"
#include "redoubt/advanced/io.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/file.h"
#include "support/folders.h"
#include "support/json_node.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using ::testing::HasSubstr;

// A folder of its own for each test, removed afterwards.
class Files : public ::testing::Test {
 protected:
  Files() : folder_(testing::own_path("files")) { fs::create_directories(folder_); }
  ~Files() override { fs::remove_all(folder_); }
  std::size_t count() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  fs::path folder_;
};

TEST_F(Files, EveryFormatKeepsAProblem) {
  const Problem p = testing::with_plain_labels(
      testing::random_problem(3, {.ragged = true, .names = true, .row_radii = true}));
  for (const char* name :
       {"p.json", "p.csv", "p.umb", "p.drn", "p.drn.gz", "p.drn.xz", "p.pexp", "p.tra"}) {
    save(p, folder_ / name);
    EXPECT_EQ(load(folder_ / name), p) << name;
  }
  // With p.terms.json, p.lab and two reward files, and no temporary left behind.
  EXPECT_EQ(count(), 12u);
}

TEST_F(Files, PoliciesHaveALineOrAnEntryForEachDecision) {
  const Problem p = testing::random_problem(3);  // 5 states, 5 stages
  const Policy policy = robust(p).policy;
  export_policy(p, policy, folder_ / "policy.csv");
  export_policy(p, policy, folder_ / "policy.storm.json");
  export_policy(p, policy, folder_ / "policy.json");
  const std::string table = read_file(folder_ / "policy.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 25);
  EXPECT_EQ(parse_json(read_file(folder_ / "policy.storm.json")).size(), 25u);
  EXPECT_EQ(parse_json(read_file(folder_ / "policy.json"))["choice_action"].size(), 25u);
  EXPECT_EQ(count(), 3u);
}

TEST_F(Files, SavingReplacesAndObeysTheUmask) {
  const auto path = folder_ / "p.json";
  std::ofstream(path) << "old";
  save(testing::random_problem(1), path);
  EXPECT_EQ(load(path), testing::random_problem(1));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()), 0666u & ~mask);
}

TEST_F(Files, WhatCannotBeSavedLeavesTheOldFile) {
  const auto path = folder_ / "p.csv";
  std::ofstream(path) << "old";
  testing::RandomOptions options{.outcome_values = true, .uncertainty = TV{0.1}};
  EXPECT_THROW(save(testing::random_problem(1, options), path), Error);
  std::string content;
  std::getline(std::ifstream(path), content);
  EXPECT_EQ(content, "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, ErrorsNameTheFile) {
  const std::string folder = folder_.string();
  EXPECT_EQ(error_of([&] { load(folder_ / "p.json"); }),
            folder + "/p.json: cannot be opened (No such file or directory)");
  EXPECT_EQ(
      error_of([&] { load(folder_ / "p.txt"); }).find(folder + "/p.txt: ending '.txt', must be"),
      0u);
  EXPECT_EQ(error_of([&] { save(testing::random_problem(1), folder_ / "no" / "p.json"); }),
            folder + "/no/p.json: cannot be written (No such file or directory)");
  fs::create_directory(folder_ / "d.json");
  EXPECT_EQ(error_of([&] { load(folder_ / "d.json"); }),
            folder + "/d.json: is a directory, must be a file");
  std::ofstream(folder_ / "m.csv")
      << "idstatefrom,idaction,idstateto,probability,reward\n0,0,0,1,1\n";
  EXPECT_EQ(error_of([&] { load(folder_ / "m.csv"); }),
            folder + "/m.csv: says neither horizon nor discount, must say one of them in " +
                folder + "/m.terms.json");
  EXPECT_EQ(load_draft(folder_ / "m.csv").model.rows(), 1);
  EXPECT_EQ(error_of([&] { export_policy(testing::random_problem(1), {}, folder_ / "p.txt"); }),
            folder + "/p.txt: ending '.txt', must be .csv or .json");
  EXPECT_EQ(error_of([&] { stages_on_disk(folder_ / "no"); }),
            folder + "/no: stages of the policy cannot be written (No such file or directory)");
  EXPECT_EQ(error_of([&] { stages_on_disk(folder_)->get(3); }),
            "stage 3 of the policy was never stored");
}

TEST_F(Files, RanksSeeTheSameOnes) {
  for (const char* name : {"a.umb", "b.umb"}) {
    const State states = name[0] == 'a' ? 4 : 40;
    save(testing::random_problem(1, {.states = states}), folder_ / name);
  }
  const auto on_two_ranks = [](auto work) { return error_of([&] { run_ranks(2, work); }); };
  EXPECT_THAT(on_two_ranks([&](Communicator& ranks) {
                load_subproblem(folder_ / (ranks.rank() == 0 ? "a.umb" : "b.umb"), ranks);
              }),
              HasSubstr(".umb: ranks read different files, must read the same"));
  EXPECT_THAT(
      on_two_ranks([&](Communicator& ranks) {
        const auto path = folder_ / (ranks.rank() == 0 ? "a.umb" : "none");
        checkpoint_file(path)->restore("", [](Archive&) {}, {.ranks = &ranks});
      }),
      HasSubstr(": 1 of 2 ranks see this file, must be in a folder that all of them share"));
}

}  // namespace
}  // namespace redoubt
