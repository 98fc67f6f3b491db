#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "io/archives.h"
#include "io/umb/umb_values.h"
#include "redoubt/advanced/io.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/io.h"
#include "support/expect_error.h"
#include "support/folders.h"
#include "support/json_node.h"
#include "support/patience.h"
#include "support/random_problem.h"
#include "support/tar_files.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;

Problem read(const std::string& bytes) {
  const Draft draft = read_umb(bytes, "m.umb");
  return Problem(draft.model, draft.terms);
}

// A valid archive with one file replaced (or removed, when the content is "none").
std::string archive_with(const std::string& member, const std::string& content) {
  auto files = testing::tar_files(write_umb(testing::random_problem(1)));
  if (content == "none")
    files.erase(member);
  else
    files[member] = content;
  return io::write_tar({files.begin(), files.end()});
}
// What reading them says; two ranks must say the same of the file.
std::string error_reading(const std::string& bytes) {
  const std::string error = error_of([&] { read(bytes); });
  const auto folder = testing::own_path("umb");
  std::filesystem::create_directories(folder);
  const auto path = folder / "m.umb";
  std::ofstream(path, std::ios::binary) << bytes;  // without write_file's wait for the disk
  const std::string on_ranks =
      error_of([&] { run_ranks(2, [&](Communicator& ranks) { load_subproblem(path, ranks); }); });
  EXPECT_EQ(on_ranks, folder.string() + "/" + error);
  std::filesystem::remove_all(folder);
  return error;
}
std::string error_with(const std::string& member, const std::string& content) {
  return error_reading(archive_with(member, content));
}
// The same for one value of index.json, given by its JSON pointer.
std::string error_with_index(const std::string& pointer, const Json& value) {
  Json index = Json::parse(testing::tar_files(write_umb(testing::random_problem(1)))["index.json"]);
  index[Json::json_pointer(pointer)] = value;
  return error_with("index.json", index.dump());
}

RC_GTEST_PROP(Umb, RoundTripKeepsEveryBit, (std::uint64_t seed)) {
  const Problem p = testing::random_problem(seed, testing::random_options(seed));
  RC_ASSERT(read(write_umb(p)) == p);
}

TEST(Umb, KeepsTheSignOfZero) {
  ModelBuilder builder(1, {});
  for (int action = 0; action < 2; ++action)
    builder.add(0, 0, action,
                {.reward = action == 0 ? -0.0 : 1.0,
                 .signals = {},
                 .outcomes = {{.next = 0, .probability = 1, .signals = {}}}});
  const Problem p(builder.build(), {.horizon = 1});
  EXPECT_TRUE(std::signbit(read(write_umb(p)).model().value(-1, 0)));
}

TEST(Umb, TheSameProblemGivesTheSameBytes) {
  EXPECT_EQ(write_umb(testing::random_problem(1)), write_umb(testing::random_problem(1)));
}

TEST(Umb, ReadsWhatUmbiWrites) {
  std::ifstream in(testing::source_folder() / "tests/data/umbi_walk.umb", std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  const Draft draft = read_umb(bytes.str(), "umbi_walk.umb");
  const Model& m = draft.model;
  EXPECT_EQ(m.states(), 4);
  EXPECT_EQ(m.rows(), 6);
  EXPECT_EQ(m.arrays().action, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(m.action_name(1), "right");
  // Left of cell 0 is one outcome, once merged. Cell 1 lists "right" first.
  EXPECT_EQ(m.arrays().next, (std::vector<State>{0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 3}));
  EXPECT_EQ(m.arrays().probability[5], 0.1);
  EXPECT_EQ(m.arrays().probability[6], 0.9);
  EXPECT_EQ(m.arrays().reward, (std::vector<double>{0, 0.5, 0, 0.5, 0, 0.5}));
  EXPECT_EQ(m.outcome_value(-1, 6), 0.5);
  EXPECT_EQ(m.signal_index("energy"), 0);  // states and choices add
  EXPECT_EQ(m.arrays().signals[0].row, (std::vector<double>{1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(draft.terms.start, Start({1, 2}, {0.5, 0.5}));
  EXPECT_FALSE(draft.terms.horizon);
}

// A file with reward structures of these names.
std::string with_rewards(const std::vector<std::string>& names) {
  auto files = testing::tar_files(
      write_umb(testing::random_problem(1, {.signals = static_cast<int>(names.size()) - 1})));
  Json index = Json::parse(files["index.json"]);
  std::size_t next = 0;
  for (auto& [id, reward] : index["annotations"]["rewards"].items())
    reward["alias"] = names[next++];
  files["index.json"] = index.dump();
  return io::write_tar({files.begin(), files.end()});
}

TEST(Umb, TheRewardIsTheOneOfThatNameOrTheNamelessOne) {
  const Draft named = read_umb(with_rewards({"default", "reward"}), "m.umb");
  EXPECT_TRUE(named.rewarded);
  EXPECT_EQ(named.model.signal_index("default"), 0);
  for (const char* nameless : {"", "default"}) {
    const Draft draft = read_umb(with_rewards({"time", nameless}), "m.umb");
    EXPECT_TRUE(draft.rewarded);
    EXPECT_EQ(draft.model.signals(), 1);
    EXPECT_EQ(draft.model.signal_index("time"), 0);
    EXPECT_FALSE(draft.model.arrays().reward.empty());
  }
}

TEST(Umb, WithoutARewardOneMustBeChosen) {
  const Draft draft = read_umb(with_rewards({"time", "energy"}), "m.umb");
  EXPECT_FALSE(draft.rewarded);
  EXPECT_THAT(testing::error_of([&] { with_objective(draft.model, {}, draft.rewarded); }),
              ::testing::HasSubstr("reward NAME or minimise NAME, of time, energy; reward none"));
  const Model time = with_objective(draft.model, {.signal = "time"}, draft.rewarded);
  EXPECT_EQ(time.arrays().reward, draft.model.arrays().signals[0].row);
  EXPECT_EQ(time.signals(), 2);
  const Model none = with_objective(draft.model, {.none = true}, draft.rewarded);
  EXPECT_EQ(none, draft.model);
}

TEST(Umb, IntervalsOfOthersGetANominalBetweenThem) {
  const Problem p = testing::random_problem(1, {.uncertainty = Interval{}});
  auto files = testing::tar_files(write_umb(p));
  Json index = Json::parse(files["index.json"]);
  index.erase("file-data");
  files["index.json"] = index.dump();
  const Draft draft = read_umb(io::write_tar({files.begin(), files.end()}), "m.umb");
  EXPECT_EQ(draft.model.arrays().lower, p.model().arrays().lower);
  EXPECT_EQ(draft.model.arrays().upper, p.model().arrays().upper);
  EXPECT_EQ(draft.terms.uncertainty, Uncertainty(Interval{}));
}

TEST(Umb, StagesBecomeLayersOfStates) {
  const testing::RandomOptions options{.states = 3, .horizon = 4, .stage_dependent = true};
  auto files = testing::tar_files(write_umb(testing::random_problem(1, options)));
  Json index = Json::parse(files["index.json"]);
  EXPECT_EQ(index["transition-system"]["#states"], 15);
  index.erase("file-data");
  files["index.json"] = index.dump();
  const Model m = read_umb(io::write_tar({files.begin(), files.end()}), "m.umb").model;
  EXPECT_EQ(m.states(), 15);
  EXPECT_EQ(m.stages(), 1);
  for (const State next : m.arrays().next) EXPECT_GE(next, 3);
}

TEST(Umb, EqualLabelsOfChoicesAreToldApart) {
  const Problem p = testing::random_problem(1, {.actions = 2, .names = true});
  auto files = testing::tar_files(write_umb(p));
  files[io::umb::action_values] = std::string(files[io::umb::action_values].size(), '\0');
  Json index = Json::parse(files["index.json"]);
  index.erase("file-data");
  files["index.json"] = index.dump();
  const Model m = read_umb(io::write_tar({files.begin(), files.end()}), "m.umb").model;
  const std::string& name = p.model().arrays().action_names[0];
  for (Row row = 0; row < m.rows(); ++row)
    EXPECT_EQ(m.action_name(m.arrays().action[row]),
              p.model().arrays().action[row] == 0 ? name : name + " (2)");
  for (const char* member : {io::umb::action_strings, io::umb::action_string_mapping})
    files.erase(member);
  const Model unnamed = read_umb(io::write_tar({files.begin(), files.end()}), "m.umb").model;
  EXPECT_EQ(unnamed.arrays().action, p.model().arrays().action);  // the place of a choice
  EXPECT_TRUE(unnamed.arrays().action_names.empty());
}

TEST(Umb, RewardsMayBeIntervalsOfOneNumber) {
  const Problem p = testing::random_problem(1, {.actions = 2});
  auto files = testing::tar_files(write_umb(p));
  const std::string member = io::umb::annotation("rewards", "reward", "choices");
  const std::vector<double>& reward = p.model().arrays().reward;
  std::vector<double> pairs;
  for (const double value : reward) pairs.insert(pairs.end(), {value, value});
  Json index = Json::parse(files["index.json"]);
  index["annotations"]["rewards"]["reward"]["type"] = {{"type", "double-interval"}, {"size", 128}};
  files["index.json"] = index.dump();
  files[member] = io::umb::to_bytes(pairs);
  const auto read = [&] { return read_umb(io::write_tar({files.begin(), files.end()}), "m.umb"); };
  EXPECT_EQ(read().model, p.model());
  pairs[1] = pairs[0] + 1;
  files[member] = io::umb::to_bytes(pairs);
  EXPECT_EQ(error_of(read),
            fmt::format("m.umb: {}: interval [{}, {}], must be a number: its ends must be equal",
                        member, pairs[0], pairs[1]));
}

TEST(Umb, ErrorsNameTheMember) {
  EXPECT_EQ(error_reading("{}").substr(0, 30), "m.umb: is not a tar archive, m");
  EXPECT_EQ(error_with("index.json", "none"),
            "m.umb: index.json is missing, must be in the archive");
  EXPECT_EQ(error_with("index.json", "{"),
            "m.umb: index.json: line 1: the text ends here, inside a value; must be complete JSON");
  EXPECT_EQ(error_with("branch-to-probability.bin", "none"),
            "m.umb: branch-to-probability.bin is missing, must be in the archive");
  EXPECT_EQ(error_with("branch-to-probability.bin", "1234"),
            "m.umb: branch-to-probability.bin has 4 bytes, must have 360");
  EXPECT_EQ(
      error_with("branch-to-target.bin", io::umb::to_bytes(std::vector<std::uint64_t>(45, 7))),
      "m.umb: branch-to-target.bin[0] = 7, must be below 5");
  EXPECT_EQ(error_with("state-to-choices.bin", "none"),
            "m.umb: state-to-choices.bin is missing, must be given: it maps 5 to 15");
  EXPECT_EQ(error_with("state-to-choices.bin",
                       io::umb::to_bytes(std::vector<std::uint64_t>{0, 3, 2, 9, 12, 15})),
            "m.umb: state-to-choices.bin[2] = 2, must begin at 0 and never decrease");
  EXPECT_EQ(error_with("branch-to-probability.bin", io::umb::to_bytes(std::vector<double>(45, 2))),
            "m.umb: probability 2 of (state 0, action 0) to state 1, must be in [0, 1]");
}

TEST(Umb, ErrorsNameTheKeyOfTheIndex) {
  const std::string system = "/transition-system/";
  EXPECT_EQ(error_with_index("/format-version", 2),
            "m.umb: index.json: format-version = 2, is newer than this program, which reads "
            "versions up to 1");
  EXPECT_EQ(
      error_with_index(system + "time", "stochastic"),
      "m.umb: index.json: transition-system.time = \"stochastic\", must be \"discrete\": time "
      "is counted in decisions");
  EXPECT_EQ(error_with_index(system + "#players", 2),
            "m.umb: index.json: transition-system.#players = 2, must be a whole number in 0..1");
  EXPECT_EQ(error_with_index(system + "#branches", 1e18),
            "m.umb: index.json: transition-system.#branches = 1e+18, must be a whole number in "
            "0..1099511627776");
  EXPECT_EQ(error_with_index(system + "#branches", 2'000'000'000),
            "m.umb: branch-to-probability.bin has 360 bytes, must have 16000000000");
  EXPECT_EQ(error_with_index(system + "branch-probability-type/type", "string"),
            "m.umb: transition-system.branch-probability-type.type = \"string\", must be double, "
            "rational, int or uint, or an interval of them");
  EXPECT_EQ(error_with_index(system + "branch-probability-type/size", 32),
            "m.umb: transition-system.branch-probability-type.size = 32, must be 64");
  EXPECT_EQ(error_with_index(system + "branch-probability-type",
                             Json{{"type", "rational"}, {"size", 192}}),
            "m.umb: transition-system.branch-probability-type.size = 192, must be a multiple of "
            "128");
  EXPECT_EQ(error_with_index("/file-data/parameters/horizon", "long"),
            "m.umb: index.json: file-data.parameters.horizon = \"long\", must be a whole number in "
            "0..2147483647");
}

// Values of states, which others give and we do not write, and layers of states that are wrong.
TEST(Umb, ErrorsNameTheState) {
  const auto error_of_changed = [](const testing::RandomOptions& options, auto change) {
    auto files = testing::tar_files(write_umb(testing::random_problem(1, options)));
    Json index = Json::parse(files["index.json"]);
    change(files, index);
    files["index.json"] = index.dump();
    return error_reading(io::write_tar({files.begin(), files.end()}));
  };
  const Json::json_pointer applies_to("/annotations/rewards/reward/applies-to");
  EXPECT_EQ(error_of_changed(
                {}, [&](auto&, Json& index) { index[applies_to] = Json::array({"players"}); }),
            "m.umb: annotations.rewards.reward.applies-to[0] = \"players\", must be states, "
            "choices or branches");
  EXPECT_EQ(error_of_changed({.terminal = true},
                             [&](auto& files, Json& index) {
                               index[applies_to] = Json::array({"states"});
                               files[io::umb::annotation("rewards", "reward", "states")] =
                                   io::umb::to_bytes(std::vector<double>{1, 1, 1, 1, 2});
                             }),
            "m.umb: annotations/rewards/reward/states/values.bin[4] = 2, must be 0: the state has "
            "no choice, so nothing is earned in it");
  EXPECT_EQ(error_with_index("/file-data/parameters/states", 4),
            "m.umb: 5 states in the file and 4 in its terms, must be equal or one layer for each "
            "stage and one more");
  EXPECT_EQ(error_of_changed({.states = 2, .actions = 1, .horizon = 2, .stage_dependent = true},
                             [](auto& files, Json&) {
                               files[io::umb::state_to_choices] = io::umb::to_bytes(
                                   std::vector<std::uint64_t>{0, 1, 2, 3, 3, 4, 4});
                             }),
            "m.umb: a state after the last stage has a choice, must have none");
}

TEST(Umb, FilesThatChangeWhileTheyAreReadAreErrors) {
  const auto path = testing::own_path("changing.umb");
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  };
  // How a member that was there is read after the file has been written again.
  const auto error_after = [&](const std::string& before, const std::string& after) {
    write(before);
    io::TarReader archive(path, 0);
    write(after);
    std::string content(3, '\0');
    return error_of([&] { archive.read("second", 0, content); });
  };
  const auto two = [](const std::string& name, const std::string& content, Packing packing) {
    return io::write_tar({{"first", "abc"}, {name, content}}, packing);
  };
  EXPECT_EQ(error_after(two("second", "xyz", Packing::plain), "cut"),
            "cannot be read at byte 1536 (it has become shorter)");
  const std::string packed = two("second", "xyz", Packing::gzip);
  EXPECT_EQ(error_after(packed, io::write_tar({{"first", "abc"}})),
            "member 'second' is gone: the file has changed");
  EXPECT_EQ(error_after(packed, two("other", "xyz", Packing::gzip)),
            "member 'second' is not where it was: the file has changed");
  EXPECT_EQ(error_after(packed, two("second", "longer", Packing::gzip)),
            "member 'second' is not where it was: the file has changed");
  write(packed);
  io::TarReader all_kept(path);
  write("cut");
  std::string content(2, '\0');
  all_kept.read("second", 1, content);
  EXPECT_EQ(content, "yz");
  std::filesystem::remove(path);
}

TEST(Umb, HostileArchivesFailFastAndSmall) {
  const std::clock_t begin = std::clock();  // of the processor: the machine may be busy
  EXPECT_EQ(error_reading(io::write_tar({{"../../etc/passwd", "x"}})),
            "m.umb: member '../../etc/passwd', must have a path inside the archive");
  EXPECT_EQ(error_reading(io::write_tar({{"/index.json", "x"}})),
            "m.umb: member '/index.json', must have a path inside the archive");
  EXPECT_EQ(error_reading(io::write_tar({{"a", "x"}, {"a", "y"}})),
            "m.umb: member 'a' is given twice, must be given once");
  const std::string bomb = io::write_tar({{"index.json", std::string(120'000'000, '\0')}});
  EXPECT_LT(bomb.size(), 600'000u);
  EXPECT_NE(error_reading(bomb).find("member 'index.json' of 120000000 bytes, must unpack "
                                     "to at most"),
            std::string::npos);
  EXPECT_LT(std::clock() - begin, 60 * testing::kPatience * CLOCKS_PER_SEC);  // not hours
}

TEST(Umb, EveryCutOffArchiveIsAnError) {
  const std::string bytes = write_umb(testing::random_problem(1));
  for (std::size_t size = 0; size + 20 < bytes.size(); ++size) error_reading(bytes.substr(0, size));
  const std::string plain = write_umb(testing::random_problem(1), Packing::plain);
  for (std::size_t size = 0; size + 1024 < plain.size(); size += 100)
    error_reading(plain.substr(0, size));
}

RC_GTEST_PROP(Umb, DamagedMembersAreAnErrorOrAProblem, (std::uint64_t seed)) {
  auto files =
      testing::tar_files(write_umb(testing::random_problem(seed, testing::random_options(seed))));
  const auto changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    auto file = std::next(files.begin(), *rc::gen::inRange<std::ptrdiff_t>(0, files.size()));
    if (file->second.empty()) continue;
    file->second[*rc::gen::inRange<std::size_t>(0, file->second.size())] =
        *rc::gen::arbitrary<char>();
  }
  try {
    read(io::write_tar({files.begin(), files.end()}));
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace redoubt
