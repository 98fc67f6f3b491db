// A UMB file that several ranks read, each its own part: the parts that one process would cut from
// the whole, the same answers, the same errors, and the memory of a part.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <numeric>

#include "io/archives.h"
#include "io/umb/umb_values.h"
#include "redoubt/advanced/file.h"
#include "redoubt/advanced/io.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/environments.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/folders.h"
#include "support/json_node.h"
#include "support/on_ranks.h"
#include "support/patience.h"
#include "support/random_problem.h"
#include "support/tar_files.h"

namespace redoubt {
using namespace internal;
namespace {

namespace fs = std::filesystem;

using testing::error_of;

class UmbParts : public ::testing::Test {
 protected:
  UmbParts() : path_(testing::own_path("parts.umb")) {}
  ~UmbParts() override { fs::remove(path_); }

  std::vector<Problem> parts(int count, const ChangeTerms& change = {},
                             const PartitionOptions& options = {}) const {
    std::vector<std::optional<Problem>> found(count);
    run_ranks(count, [&](Communicator& ranks) {
      found[ranks.rank()] = load_subproblem(path_, ranks, change, options);
    });
    std::vector<Problem> all;
    for (auto& part : found) all.push_back(*std::move(part));
    return all;
  }

  // That every part is the one cut from the whole problem.
  void expect_parts_of(const Problem& whole) const {
    for (int ranks = 2; ranks <= 4; ++ranks) {
      const auto blocks = balanced_blocks(whole.model(), ranks);
      const auto found = parts(ranks);
      for (int r = 0; r < ranks; ++r) EXPECT_EQ(found[r], subproblem(whole, blocks, r)) << ranks;
    }
  }

  const fs::path path_;
};

TEST_F(UmbParts, AreThoseCutFromTheWhole) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomOptions options = testing::random_options(seed);
    options.states += static_cast<State>(seed % 12);
    const Problem whole = testing::random_problem(seed, options);
    for (const Packing packing : {Packing::gzip, Packing::plain}) {
      save(whole, path_, packing);
      EXPECT_EQ(load(path_), whole);
      expect_parts_of(whole);
    }
  }
}

// States in the order of a partition, which a rank finds in many places of the file.
TEST_F(UmbParts, OfAPartitionAreThoseCutFromTheWhole) {
  const auto uneven = [](State states) {  // nearly all on one rank: that leaves least to send
    std::vector<std::int32_t> owner(states, 0);
    for (State s = 1; s < states; s += 5) owner[s] = 1;
    return owner;
  };
  int partitioned = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomOptions options = testing::random_options(seed);
    options.states += static_cast<State>(seed % 12);
    const Problem whole = testing::random_problem(seed, options);
    for (const Packing packing : {Packing::gzip, Packing::plain}) {
      save(whole, path_, packing);
      for (int ranks = 2; ranks <= 4; ++ranks) {
        std::atomic<bool> taken = false;
        const auto found =
            parts(ranks, {},
                  {[&](const StateGraph& graph, int) { return uneven(graph.states()); },
                   [&](const NeededStates& n) { taken = n.partitioned; }});
        Partition partition = balanced_blocks(whole.model(), ranks);
        if (taken) {
          ++partitioned;
          partition.owner = uneven(partition.states());
        }
        for (int r = 0; r < ranks; ++r)
          EXPECT_EQ(found[r], subproblem(whole, partition, r)) << ranks;
      }
    }
  }
  EXPECT_GT(partitioned, 20);
}

TEST_F(UmbParts, GiveTheAnswersOfTheWhole) {
  testing::RandomOptions options;
  options.states = 150;
  const Problem whole = testing::random_problem(5, testing::shaped(options, 15));
  save(whole, path_, Packing::plain);
  const RcviOptions how{.budget_cells = 15};
  const Solution one = rcvi(whole, how);
  for (int count = 1; count <= 4; ++count) {
    std::vector<Solution> solutions(count);
    run_ranks(count, [&](Communicator& ranks) {
      Execution execution;
      if (count > 1) execution.ranks = &ranks;
      solutions[ranks.rank()] = rcvi(load_subproblem(path_, ranks), how, execution);
    });
    for (const Solution& part : solutions) {
      EXPECT_EQ(part.reward, one.reward);
      EXPECT_EQ(part.constraints, one.constraints);
      EXPECT_EQ(part.trace.reward, one.trace.reward);
    }
    EXPECT_EQ(testing::join_policies(solutions), one.policy);
  }
}

TEST_F(UmbParts, StatesKeepTheirNumbersAndNamesWhenTermsChange) {
  const Problem whole = testing::random_problem(2, {.states = 20, .names = true});
  save(whole, path_);
  const auto found =
      parts(3, [&](Terms& terms, State states, const std::vector<std::string>& names) {
        EXPECT_EQ(states, 20);
        EXPECT_EQ(names, whole.model().arrays().state_names);
        terms.start = Start(17);
      });
  for (const Problem& part : found) {
    const State start = part.start().states.front();
    EXPECT_EQ(part.model().state_name(start), whole.model().state_name(17));
  }
}

// Members in another order, labels of choices that differ in some states only, rows to be sorted,
// outcomes to be merged: what one process makes of them, all ranks do.
TEST_F(UmbParts, AreThoseCutFromFilesOfOtherPrograms) {
  const fs::path umbi = testing::source_folder() / "tests/data/umbi_walk.umb";
  fs::copy_file(umbi, path_, fs::copy_options::overwrite_existing);
  const auto finite = [](Terms& terms, State, const std::vector<std::string>&) {
    terms.horizon = 3;
  };
  Draft draft = load_draft(path_);
  finite(draft.terms, 0, {});
  const Problem whole(draft.model, draft.terms);
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const auto found = parts(ranks, finite);
    Row rows = 0;
    for (const Problem& part : found) {
      rows += part.model().rows();
      const auto& place = part.model().arrays().submodel;
      EXPECT_EQ(part, place ? subproblem(whole, balanced_blocks(whole.model(), ranks), place->rank)
                            : whole);
    }
    EXPECT_EQ(rows, whole.model().rows());
  }
}

TEST_F(UmbParts, ActionsAreToldApartWhenTheyAreEqualOnOneRank) {
  const Problem p = testing::random_problem(1, {.states = 12, .actions = 2, .names = true});
  auto files = testing::tar_files(write_umb(p));
  std::string& labels = files[io::umb::action_values];
  std::copy_n(labels.end() - 8, 4, labels.end() - 4);  // of the last state
  write_file(path_, io::write_tar({files.begin(), files.end()}, Packing::plain));
  for (const Problem& part : parts(3)) {
    EXPECT_EQ(part.model().arrays().action_names.size(), 4U);  // on all ranks
    EXPECT_EQ(part.model().actions(), 3);
  }
}

// One byte of one member is anything: what one process refuses, ranks refuse; what it takes, they
// take, with the same meaning.
RC_GTEST_FIXTURE_PROP(UmbParts, RefuseWhatTheWholeRefuses, (std::uint64_t seed)) {
  const auto options = testing::random_options(seed);
  auto files = testing::tar_files(write_umb(testing::random_problem(seed, options)));
  auto file = std::next(files.begin(), *rc::gen::inRange<std::ptrdiff_t>(0, files.size()));
  RC_PRE(!file->second.empty());
  file->second[*rc::gen::inRange<std::size_t>(0, file->second.size())] =
      *rc::gen::arbitrary<char>();
  const auto packing = *rc::gen::element(Packing::gzip, Packing::plain);
  write_file(path_, io::write_tar({files.begin(), files.end()}, packing));
  std::optional<Problem> whole;
  try {
    whole = load(path_);
  } catch (const Error&) {
    RC_ASSERT_THROWS_AS(parts(3), Error);
    return;
  }
  for (const Problem& part : parts(3)) {
    const Submodel& place = *part.model().arrays().submodel;
    RC_ASSERT(part.model().rows() ==
              subproblem(*whole, balanced_blocks(whole->model(), 3), place.rank).model().rows());
  }
}

TEST_F(UmbParts, RadiiOfRowsInTheTermsAreRefused) {
  auto files = testing::tar_files(write_umb(testing::random_problem(1)));
  Json index = Json::parse(files["index.json"]);
  index["file-data"]["parameters"]["uncertainty"]["radius"] = std::vector<double>(15, 0.1);
  files["index.json"] = index.dump();
  write_file(path_, io::write_tar({files.begin(), files.end()}));
  EXPECT_EQ(load(path_).model().rows(), 15);
  EXPECT_THAT(error_of([&] { parts(2); }),
              ::testing::HasSubstr("radius = a list of 15, must be a number on 2 ranks"));
}

// One of several ranks that is alone: all others say what it says.
class LonelyRank : public Communicator {
 public:
  LonelyRank(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all;
    for (int r = 0; r < size_; ++r) all.insert(all.end(), mine.begin(), mine.end());
    return all;
  }
  void begin(std::span<const Outgoing>, std::span<const Incoming>) override {}
  void finish() override {}

 private:
  int rank_, size_;
};

// Megabytes that a process of its own needs beyond what it begins with.
double megabytes_of(const std::function<void()>& work) {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto peak = [] {
      rusage usage = {};
      ::getrusage(RUSAGE_SELF, &usage);
      return static_cast<double>(usage.ru_maxrss) / 1024;
    };
    const double before = peak();
    work();
    const double used = peak() - before;
    ::_exit(::write(ends[1], &used, sizeof used) == sizeof used ? 0 : 1);
  }
  double used = 0;
  EXPECT_EQ(::read(ends[0], &used, sizeof used), static_cast<ssize_t>(sizeof used));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ::close(ends[0]), ::close(ends[1]);
  return used;
}

TEST_F(UmbParts, TakeTheMemoryOfAPart) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  for (const Packing packing : {Packing::gzip, Packing::plain}) {
    // Made in a process of its own, so that this one has nothing left from it.
    megabytes_of([&] {
      save(make("garnet(states=120000,actions=4,successors=10,horizon=20,start=0,bound=100)"),
           path_, packing);
    });
    const double whole = megabytes_of([&] { load(path_); });
    EXPECT_GT(whole, 30);
    for (const int rank : {0, 5, 7}) {
      const double part = megabytes_of([&] {
        LonelyRank ranks(rank, 8);
        load_subproblem(path_, ranks);
      });
      EXPECT_LT(part, whole / 4) << rank;
    }
  }
}

}  // namespace
}  // namespace redoubt
