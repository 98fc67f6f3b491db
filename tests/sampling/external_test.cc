#include <gtest/gtest.h>

#include <chrono>

#include "redoubt/estimate.h"
#include "support/expect_error.h"
#include "support/folders.h"

namespace redoubt {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A command of the shell, so that a folder with a space in its name needs quotes.
std::string quoted(const fs::path& path) { return "\"" + path.string() + "\""; }

const std::string kProgram =
    "python3 " + quoted(testing::source_folder() / "tests/sampling/simulator.py");

Estimate ask(const std::string& command, std::int64_t samples, const fs::path& store = {},
             const ExternalOptions& options = {}) {
  const auto simulator = external_simulator(command, options);
  return estimate(*simulator, {.samples = samples, .seed = 5, .store = store});
}

TEST(External, AnswersBecomeAModel) {
  const Estimate found = ask(kProgram, 200);
  EXPECT_EQ(found.model.states(), 5);
  EXPECT_EQ(found.model.rows(), 10);
  EXPECT_EQ(found.terms.horizon, 3);
  EXPECT_EQ(found.terms.start, Start(1));
  EXPECT_EQ(found.queries, 2000);
  const Row row = found.model.row_begin(0, 3) + 1;
  EXPECT_EQ(found.model.value(-1, row), 0.75);
  EXPECT_EQ(found.model.value(0, row), 0.1);
  const auto forward = found.model.outcome_begin(row) + 1;  // states 3 and 4
  EXPECT_EQ(found.model.arrays().next[forward], 4);
  EXPECT_NEAR(found.model.arrays().probability[forward], 0.7, 0.15);
}

TEST(External, NeitherTheWindowNorTheOrderOfAnswersMatters) {
  const Estimate one = ask(kProgram, 50, {}, {.window = 1});
  EXPECT_EQ(one.model, ask(kProgram, 50).model);
  EXPECT_EQ(one.model, ask(kProgram + " none 0 --shuffle", 50).model);
}

TEST(External, ADeadSimulatorLeavesItsSamplesAndASecondCallFinishes) {
  const fs::path store = testing::own_path("dead.samples");
  fs::remove(store);
  const std::string text = error_of([&] { ask(kProgram + " die 1000", 1000, store); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("simulator.py\" die 1000' ended with status 3 before it answered "
                              "query 999 (draw 999 of (state 0, action 0))"),
                    HasSubstr("; 999 of 10000 samples are kept in " + store.string())));
  const Estimate finished = ask(kProgram, 1000, store);
  EXPECT_EQ(finished.reused, 999);
  EXPECT_EQ(finished.queries, 9001);
  const Estimate undisturbed = ask(kProgram, 1000);
  EXPECT_EQ(finished.model, undisturbed.model);
  EXPECT_EQ(finished.counts, undisturbed.counts);
  fs::remove(store);
}

TEST(External, FaultsNameTheQueryAndTheLine) {
  const auto fault = [](const std::string& what) {
    return error_of([&] { ask(kProgram + " " + what, 10, {}, {.timeout = 60}); });
  };
  EXPECT_THAT(fault("garbage 13"),
              AllOf(HasSubstr("wrote 'not json' while query 12 (draw 2 of (state 0, action 1))"),
                    HasSubstr("must be JSON")));
  EXPECT_THAT(fault("unknown 2"), HasSubstr("id = 1000000, must be the id of a query that waits"));
  EXPECT_THAT(fault("far 2"), HasSubstr("next = 5, must be a whole number in 0..4"));
  EXPECT_THAT(fault("error 2"), HasSubstr("no such thing"));
  EXPECT_THAT(fault("silent 1"), HasSubstr("ended with status 7 before it said hello"));
  EXPECT_THAT(error_of([] { external_simulator("echo '{\"states\": 3}'"); }),
              HasSubstr("key 'actions' is missing"));
  EXPECT_THAT(error_of([] { external_simulator("exit 4"); }), HasSubstr("ended with status 4"));
  EXPECT_THAT(
      error_of([] { external_simulator("echo '{\"states\": 99999999, \"actions\": 99999}'"); }),
      HasSubstr("must be at most 100000000"));
}

TEST(External, AWrongHelloIsNamed) {
  const auto hello = [](const std::string& rest) {
    return error_of([&] {
      external_simulator("echo '{\"states\": 2, \"actions\": 2, " + rest + "}'", {.timeout = 60});
    });
  };
  EXPECT_THAT(hello("\"available\": [[0]]"),
              AllOf(HasSubstr("says hello with '{\"states\": 2"),
                    HasSubstr("must list the actions of each of the 2 states")));
  EXPECT_THAT(hello("\"available\": [[0], [1, 0]]"),
              HasSubstr("action 0 of state 1, must be at least 0 and above the one before"));
  EXPECT_THAT(hello("\"stage_dependent\": 1"),
              HasSubstr("stage_dependent = 1, must be true or false"));
  EXPECT_THAT(hello("\"stage_dependent\": true"),
              HasSubstr("stage_dependent = true without a horizon, must come with one"));
  EXPECT_THAT(error_of([] { external_simulator("sleep 60", {.timeout = 0.1}); }),
              HasSubstr("'sleep 60' has not said hello within 0.1 seconds"));
}

TEST(External, AHangIsAnErrorAndTheProgramIsEnded) {
  const auto begin = std::chrono::steady_clock::now();
  // A shell, which even a busy machine starts at once: four answers, and then none.
  const std::string hangs =
      "read hello; echo '{\"states\": 2, \"actions\": 1}'; for i in 0 1 2 3; do read query; "
      "echo \"{\\\"id\\\": $i, \\\"next\\\": 0, \\\"reward\\\": 0}\"; done; exec sleep 600";
  const std::string text = error_of([&] { ask(hangs, 10, {}, {.timeout = 3}); });
  EXPECT_THAT(text, HasSubstr("has not answered query 4 (draw 4 of (state 0, action 0)) within 3 "
                              "seconds"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::seconds(300));  // it would sleep on
}

TEST(External, TheExamplesRun) {
  const fs::path examples = testing::source_folder() / "examples";
  const Estimate machine = ask("python3 " + quoted(examples / "simulator.py"), 400);
  EXPECT_EQ(machine.model.states(), 5);
  EXPECT_EQ(machine.model.action_name(1), "repair");
  const Estimate coin = ask("sh " + quoted(examples / "simulator.sh"), 100);
  ASSERT_EQ(coin.model.outcomes(), 8);
  EXPECT_NEAR(coin.model.arrays().probability[3], 0.7, 0.2);  // state 0, action 1, to state 1
  EXPECT_EQ(coin.model.value(-1, 2), 1.0);
}

}  // namespace
}  // namespace redoubt
