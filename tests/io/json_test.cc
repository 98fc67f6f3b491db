#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <ctime>

#include "redoubt/io.h"
#include "support/expect_error.h"
#include "support/patience.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;

// A valid file with one part replaced.
std::string file_with(const std::string& part, const std::string& replacement) {
  std::string text = R"({
  "format": "redoubt-problem",
  "version": 1,
  "states": 2,
  "actions": 2,
  "horizon": 10,
  "discount": 1.0,
  "start": 0,
  "transitions": [
    [0, 0, 0, 0.25],
    [0, 0, 1, 0.75],
    [0, 1, 1, 1]
  ],
  "reward": [[1, 2], [null, null]],
  "signals": {"cost": [3, 4]},
  "constraints": [{"signal": "cost", "at_most": 4}],
  "uncertainty": {"set": "kl", "radius": 0.05}
})";
  if (part.empty()) return text;
  const auto at = text.find(part);
  if (at == std::string::npos) throw std::logic_error("no such part: " + part);
  return text.replace(at, part.size(), replacement);
}

Problem read(const std::string& text) { return read_json(text, "p.json"); }
std::string error_with(const std::string& part, const std::string& replacement) {
  return error_of([&] { read(file_with(part, replacement)); });
}

TEST(Json, ReadsTheFileOfTheManual) {
  const Problem p = read(file_with("", ""));
  EXPECT_EQ(p.model().states(), 2);
  EXPECT_EQ(p.model().rows(), 2);
  EXPECT_EQ(p.model().outcomes(), 3);
  EXPECT_EQ(p.model().value(-1, 1), 2);
  EXPECT_EQ(p.model().value(0, 0), 3);  // a list by state holds for all its actions
  EXPECT_EQ(p.model().value(0, 1), 3);
  EXPECT_EQ(p.model().row_begin(0, 1), p.model().row_end(0, 1));  // terminal
  EXPECT_EQ(p.horizon(), 10);
  EXPECT_EQ(p.constraints(), std::vector{at_most("cost", 4)});
  EXPECT_EQ(p.uncertainty(), Uncertainty(KL{0.05}));
}

TEST(Json, LabelsAreSetsOfStatesByNumberOrName) {
  const std::string labels = R"("labels": {"goal": ["b", 0, 1], "none": []}, "states": ["a", "b"])";
  const Model m = read(file_with("\"states\": 2", labels)).model();
  ASSERT_NE(m.find_label("goal"), nullptr);
  EXPECT_EQ(m.find_label("goal")->states, (std::vector<State>{0, 1}));
  EXPECT_TRUE(m.find_label("none")->states.empty());
  EXPECT_EQ(m.find_label("crash"), nullptr);
  const auto error = [&](const std::string& value) {
    return error_with("\"states\": 2", "\"states\": 2, \"labels\": " + value);
  };
  EXPECT_EQ(error("{\"goal\": [2]}"), "p.json: labels.goal[0] = 2, must be a whole number in 0..1");
  EXPECT_EQ(error("{\"goal\": 1}"), "p.json: labels.goal = 1, must be a list");
  EXPECT_EQ(error("{\"\": [1]}"), "p.json: a label without a name, must have one");
  EXPECT_EQ(error("[1]"),
            "p.json: labels = a list of 1, must be an object of names and lists of states");
}

RC_GTEST_PROP(Json, RoundTripKeepsEveryBit, (std::uint64_t seed)) {
  const Problem p = testing::random_problem(seed, testing::random_options(seed));
  RC_ASSERT(read(write_json(p)) == p);
}

TEST(Json, RoundTripKeepsExtremeNumbers) {
  ModelArrays a;
  a.states = 1;
  a.state_rows = {0, 3};
  a.action = {0, 1, 2};
  a.row_outcomes = {0, 1, 2, 3};
  a.next = {0, 0, 0};
  a.probability = {1, 1, 1};
  a.reward = {5e-324, -1.7976931348623157e308, 0.1};
  a.signals = {{"cost", {-0.0, 1.0 / 3, 123456789012345680.0}, {}}};
  const Problem p(Model(a), {.horizon = 0, .constraints = {at_least("cost", -0.0)}});
  const Problem q = read(write_json(p));
  EXPECT_EQ(p, q);
  EXPECT_TRUE(std::signbit(q.model().value(0, 0)));
  EXPECT_TRUE(std::signbit(q.constraints()[0].bound));
}

TEST(Json, WritesOneTransitionPerLine) {
  const std::string text = write_json(read(file_with("", "")));
  EXPECT_NE(text.find("\n    [0, 0, 1, 0.75],\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    [1, 2],\n"), std::string::npos) << text;
}

TEST(Json, NamesServeWherePeopleWriteThem) {
  std::string text = file_with("\"states\": 2", "\"states\": [\"dry\", \"wet\"]");
  text.replace(text.find("[0, 1, 1, 1]"), 12, "[\"dry\", 1, \"wet\", 1]");
  text.replace(text.find("\"start\": 0"), 10, "\"start\": {\"wet\": 0.5, \"dry\": 0.5}");
  const Problem p = read(text);
  EXPECT_EQ(p.start(), Start({0, 1}, {0.5, 0.5}));
  EXPECT_EQ(p.model().state_name(1), "wet");
}

TEST(Json, StartIsAStateOrADistribution) {
  EXPECT_EQ(read(file_with("\"start\": 0", "\"start\": 1")).start(), Start(1));
  EXPECT_EQ(read(file_with("\"start\": 0", "\"start\": [0, 1]")).start(), Start(1));
  EXPECT_EQ(read(file_with("\"start\": 0", "\"start\": {\"1\": 1}")).start(), Start(1));
}

TEST(Json, OutcomeValuesAddToThoseOfTheRow) {
  const Problem p = read(file_with(
      "[0, 1, 1, 1]",
      R"({"state": 0, "action": 1, "next": 1, "p": 1, "reward": 7, "signals": {"cost": 8}})"));
  EXPECT_EQ(p.model().value(-1, 1), 2);
  EXPECT_EQ(p.model().outcome_value(-1, 2), 7);
  EXPECT_EQ(p.model().outcome_value(0, 2), 8);
  EXPECT_EQ(p.model().outcome_value(0, 1), 0);
}

TEST(Json, ATableByStageMakesRowsForEachStage) {
  std::string text = file_with("\"horizon\": 10", "\"horizon\": 2");
  text.replace(text.find("[[1, 2], [null, null]]"), 22, "[[[1, 2], []], [[3, 4], []]]");
  const Problem p = read(text);
  EXPECT_EQ(p.model().stages(), 2);
  EXPECT_EQ(p.model().rows(), 4);
  EXPECT_EQ(p.model().value(-1, p.model().row_begin(1, 0)), 3);
  EXPECT_EQ(p.model().value(0, 3), 3);
}

TEST(Json, BoundsAloneGetAProbabilityBetweenThem) {
  std::string text = file_with(
      "[0, 0, 0, 0.25]",
      R"({"state": 0, "action": 0, "next": 0, "lower": 0.1, "upper": 0.3, "comment": "estimated"})");
  text.replace(text.find("[0, 0, 1, 0.75]"), 15,
               R"({"state": 0, "action": 0, "next": 1, "lower": 0.5, "upper": 0.9})");
  text.replace(text.find(R"({"set": "kl", "radius": 0.05})"), 29, R"({"set": "interval"})");
  const Problem p = read(text);
  const ModelArrays& a = p.model().arrays();
  EXPECT_DOUBLE_EQ(a.probability[0], 0.1 + 0.2 * 2 / 3);
  EXPECT_EQ(a.lower, (std::vector{0.1, 0.5, 1.0}));
  EXPECT_EQ(a.upper, (std::vector{0.3, 0.9, 1.0}));
}

TEST(Json, NoHorizonAndNoDiscountAreUntilAnEnd) {
  EXPECT_TRUE(read(file_with("\"horizon\": 10", "\"horizon\": null")).undiscounted());
}

struct Bad {
  const char* part;
  const char* replacement;
  const char* error;
};

class BadJson : public ::testing::TestWithParam<Bad> {};

TEST_P(BadJson, IsOneClearError) {
  EXPECT_EQ(error_with(GetParam().part, GetParam().replacement), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadJson,
    ::testing::Values(
        Bad{"[0, 1, 1, 1]", "[0, 1, 1, -0.1]",
            "p.json: probability -0.1 of (state 0, action 1) to state 1, must be in [0, 1]"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 1, 1.5]",
            "p.json: probability 1.5 of (state 0, action 1) to state 1, must be in [0, 1]"},
        Bad{"0.75", "0.73",
            "p.json: probabilities of (state 0, action 0) sum to 0.98, must sum to 1 within 2e-09"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 1, NaN]",
            "p.json: line 12: invalid literal; last read: '1, N', must be JSON"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 1, Infinity]",
            "p.json: line 12: invalid literal; last read: '1, I', must be JSON"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 1, 1e999]",
            "p.json: line 12: number overflow parsing '1e999', must be JSON"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 1, \"1\"]",
            "p.json: transitions[2][3] = \"1\", must be a number"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 2, 1]",
            "p.json: transitions[2][2] = 2, must be a whole number in 0..1"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 0.5, 1]",
            "p.json: transitions[2][2] = 0.5, must be a whole number in 0..1"},
        Bad{"[0, 1, 1, 1]", "[0, 1, \"wet\", 1]",
            "p.json: transitions[2][2] = \"wet\", 'wet' must be a whole number in 0..1"},
        Bad{"[0, 1, 1, 1]", "[0, 1, 1]",
            "p.json: transitions[2] = a list of 3, must be [state, action, next, p] or an object"},
        Bad{"0.05", "-0.05", "p.json: radius = -0.05, must be finite and at least 0"},
        Bad{"0.05", "[0.1, -1]",
            "p.json: radius -1 of (state 0, action 1), must be finite and at least 0"},
        Bad{"0.05", "[0.1]", "p.json: 1 radii for 2 rows, must be one for each row"},
        Bad{"1.0", "0", "p.json: discount = 0, must be in (0, 1]"},
        Bad{"1.0", "1.2", "p.json: discount = 1.2, must be in (0, 1]"},
        Bad{"10", "-1", "p.json: horizon = -1, must be a whole number in 0..2147483647"},
        Bad{"10", "2.5", "p.json: horizon = 2.5, must be a whole number in 0..2147483647"}));

INSTANTIATE_TEST_SUITE_P(
    Keys, BadJson,
    ::testing::Values(
        Bad{"\"cost\", \"at_most\"", "\"risk\", \"at_most\"",
            "p.json: constraint on signal 'risk', the model has no signal of that name"},
        Bad{"\"at_most\": 4", "\"atmost\": 4",
            "p.json: unknown key 'atmost' in constraints[0], must be one of signal, at_least, "
            "at_most, probability"},
        Bad{"\"at_most\": 4", "\"at_most\": 4, \"at_least\": 1",
            "p.json: constraints[0] = an object of 3, must have either at_least or at_most"},
        Bad{"\"discount\"", "\"discuont\"",
            "p.json: unknown key 'discuont', must be one of format, version, states, actions, "
            "horizon, discount, start, transitions, reward, signals, constraints, uncertainty, "
            "arrivals, labels, objective, nature, groups, "
            "helpful_groups, factors"},
        Bad{"\"horizon\": 10", "\"discount\": 0.5",
            "p.json: key 'discount' is given twice, must be given once"},
        Bad{"\"radius\"", "\"radus\"",
            "p.json: unknown key 'radus' in uncertainty, must be one of set, radius, scope"},
        Bad{"\"kl\"", "\"klein\"",
            "p.json: uncertainty.set = \"klein\", must be one of none, tv, chi2, kl, tilt, "
            "interval, interval-tv, "
            "interval-chi2, interval-kl"},
        Bad{"\"kl\"", "\"interval\"",
            "p.json: unknown key 'radius' in uncertainty, must be one of set"},
        Bad{"\"states\": 2,", "", "p.json: key 'states' is missing, must be given"},
        Bad{"\"states\": 2,", "\"states\": [\"a\", \"a\"],",
            "p.json: states = a list of 2, names must differ"},
        Bad{"\"reward\": [[1, 2], [null, null]]", "\"reward\": [[1, 2]]",
            "p.json: reward = a list of 1, must have 2 entries, one for each state"},
        Bad{"\"reward\": [[1, 2], [null, null]]", "\"reward\": [[1], []]",
            "p.json: reward[0] = a list of 1, must have an entry for action 1, which the state "
            "has"},
        Bad{"\"reward\": [[1, 2], [null, null]]", "\"reward\": [[1, null], []]",
            "p.json: reward[0][1] = null, must be a number"},
        Bad{"\"reward\": [[1, 2], [null, null]]", "\"reward\": [[1, 2], [5, 0]]",
            "p.json: reward[1][0] = 5, must be null or 0: no transition gives the state this "
            "action"},
        Bad{"[3, 4]", "[[[3, 4], []]]",
            "p.json: signals.cost = a list of 1, must have 10 entries, one for each stage of the "
            "horizon"},
        Bad{"[3, 4]", "\"much\"", "p.json: signals.cost = \"much\", must be a number"},
        Bad{"{\"cost\": [3, 4]}", "[3, 4]",
            "p.json: signals = a list of 2, must be an object of names and tables"},
        Bad{"[{\"signal\": \"cost\", \"at_most\": 4}]", "4",
            "p.json: constraints = 4, must be a list"},
        Bad{"\"states\": 2", "\"states\": \"two\"",
            "p.json: states = \"two\", must be a count or a list of names"},
        Bad{"\"start\": 0", "\"start\": [1]",
            "p.json: start = a list of 1, must have 2 entries, one for each state"},
        Bad{"\"kl\"", "7", "p.json: uncertainty.set = 7, must be a text in quotes"},
        Bad{"\"kl\", \"radius\"", "\"tv\", \"reach\": \"far\", \"radius\"",
            "p.json: uncertainty.reach = \"far\", must be \"anywhere\" or \"support\""}));

INSTANTIATE_TEST_SUITE_P(
    Transitions, BadJson,
    ::testing::Values(
        Bad{"[0, 1, 1, 1]", R"({"state": 0, "action": 1, "next": 1, "p": 1, "signals": 8})",
            "p.json: transitions[2].signals = 8, must be an object of signal names and numbers"},
        Bad{"[0, 1, 1, 1]",
            R"({"state": 0, "action": 1, "next": 1, "p": 1, "signals": {"risk": 8}})",
            "p.json: transitions[2].signals = an object of 1, has 'risk', which must be one of the "
            "file's \"signals\""},
        Bad{"[0, 1, 1, 1]", R"({"state": 0, "action": 1, "next": 1, "p": 1, "stage": 0})",
            "p.json: transitions[2] = an object of 5, must have a stage if and only if the "
            "transitions before it have one"},
        Bad{"[0, 1, 1, 1]", R"({"state": 0, "action": 1, "next": 1, "p": 1, "lower": 0.5})",
            "p.json: transitions[2] = an object of 5, must have both lower and upper, or neither"},
        Bad{"[0, 0, 1, 0.75]", R"({"state": 0, "action": 0, "next": 1, "lower": 0, "upper": 1})",
            "p.json: some outcomes of (state 0, action 0) have a probability and some only bounds, "
            "must be the same for all"}));

TEST(Json, WhatDependsOnTheStageNeedsStages) {
  std::string tables = file_with("\"horizon\": 10", "\"horizon\": 0");
  tables.replace(tables.find("[[1, 2], [null, null]]"), 22, "[[[1, 2], []]]");
  EXPECT_EQ(error_of([&] { read(tables); }),
            "p.json: the file has a table by stage, state and action; this needs a finite horizon "
            "of at least 1");
  std::string entries = file_with("\"horizon\": 10", "\"horizon\": 0");
  entries.replace(entries.find("[0, 0, 0, 0.25]"), 15,
                  R"({"state": 0, "action": 0, "next": 0, "p": 1, "stage": 0})");
  EXPECT_EQ(error_of([&] { read(entries); }),
            "p.json: transitions[0].stage = 0, stages need a finite horizon of at least 1");
}

TEST(Json, RefusesToWriteWhatItCannotSay) {
  ModelArrays a;
  a.states = 1;
  a.state_rows = {0, 1};
  a.action = {0};
  a.row_outcomes = {0, 1};
  a.next = {0};
  a.probability = {1};
  a.state_names = {"caf\xe9"};
  const auto error = [&] {
    return error_of([&] { write_json(Problem(Model(a), {.horizon = 1})); });
  };
  EXPECT_EQ(error(), "name '\"caf\\ufffd\"' is not valid UTF-8, must be to be written as JSON");
  a.state_names.clear();
  a.action = {2'000'000};
  EXPECT_EQ(error(),
            "action numbers up to 2000000 with 1 rows, must be numbered more densely to be written "
            "as JSON");
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadJson,
    ::testing::Values(
        Bad{"redoubt-problem", "redoubt-solution",
            "p.json: format = \"redoubt-solution\", must be \"redoubt-problem\""},
        Bad{"\"format\": \"redoubt-problem\",", "",
            "p.json: key 'format' is missing, must be given"},
        Bad{"\"version\": 1", "\"version\": 2",
            "p.json: version = 2, is newer than this program, which reads versions up to 1"},
        Bad{"\"states\": 2", "\"states\": 1000000000",
            "p.json: 1000000000 states in a file of 390 bytes, must be at most 1012480"},
        Bad{"\"states\": 2", "\"states\": 0",
            "p.json: states = 0, must be a whole number in 1..2147483646"},
        Bad{"\"states\": 2", "\"states\": 1e300",
            "p.json: states = 1e+300, must be a whole number in 1..2147483646"}));

TEST(Json, EveryCutOffFileIsAnError) {
  const std::string text = file_with("", "");
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    const std::string error = error_of([&] { read(text.substr(0, size)); });
    EXPECT_EQ(error.substr(0, 8), "p.json: ") << error;
  }
  EXPECT_EQ(error_of([&] { read(text.substr(0, 200)); }),
            "p.json: line 12: the text ends here, inside a value; must be complete JSON");
  EXPECT_EQ(error_of([] { read(""); }), "p.json: is empty, must be JSON");
  EXPECT_EQ(error_of([] { read("idstatefrom,idaction"); }),
            "p.json: line 1: invalid literal; last read: 'i', must be JSON");
  EXPECT_EQ(error_of([] { read("[1, 2]"); }),
            "p.json: the file holds a list of 2, must be an object");
}

TEST(Json, HostileTextCostsLittle) {
  const std::clock_t begin = std::clock();  // of the processor: the machine may be busy
  EXPECT_EQ(error_of([] { read(std::string(100'000'000, '[')); }),
            "p.json: values are nested more than 16 deep, must be at most that");
  // Many keys in one object; many signals for many transitions.
  std::string keys = "{\"x0\": 0";
  for (int i = 1; i < 200'000; ++i) keys += ", \"x" + std::to_string(i) + "\": 0";
  read(file_with("\"horizon\": 10", "\"horizon\": 10, \"comment\": " + keys + "}"));
  std::string rows = "[0, 1, 1, 1]", zeros = "\"a\": 0";
  for (int i = 0; i < 20'000; ++i) rows += ", [0, 1, 1, 0]";
  for (int i = 0; i < 900; ++i) zeros += ", \"a" + std::to_string(i) + "\": 0";
  std::string wide = file_with("[0, 1, 1, 1]", rows);
  wide.replace(wide.find("\"cost\": [3, 4]"), 14, zeros);
  EXPECT_NE(error_of([&] { read(wide); }).find("transition values in a file of"),
            std::string::npos);
  EXPECT_LT(std::clock() - begin, 60 * testing::kPatience * CLOCKS_PER_SEC);  // not hours
}

RC_GTEST_PROP(Json, DamagedTextIsAnErrorOrAProblem, (std::uint64_t seed)) {
  std::string text = write_json(testing::random_problem(seed, testing::random_options(seed)));
  const auto changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
  }
  try {
    read(text);
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace redoubt
