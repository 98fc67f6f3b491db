#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "redoubt/io.h"
#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;

const std::string kHeader =
    "@type: MDP\n@parameters\n\n@reward_models\ntime energy "
    "\n@nr_states\n3\n@nr_choices\n3\n@model\n";
const std::string kBody =
    "state 0 [1, 0] init safe\n"
    "//[x=0\t& y=true]\n"
    "\taction go [0, 2.5]\n\t\t1 : 0.25\n\t\t2 : 3/4\n"
    "\taction stay [0, 0]\n\t\t0 : 1\n"
    "state 1 [0, 0] safe \"the goal\"\n"
    "//[x=1\t& y=true]\n"
    "\taction go [0, 0]\n\t\t1 : 1\n"
    "state 2\n"
    "//[x=1\t& y=false]\n";

Draft read_drn_text(const std::string& text) { return read_drn(text, "m.drn"); }
std::string drn_error(const std::string& text) {
  return error_of([&] { read_drn_text(text); });
}
std::string header_error(const std::string& text) { return drn_error(text); }
std::string body_error(const std::string& body) { return drn_error(kHeader + body); }

Problem drn_and_back(const Problem& p) {
  const Draft given = p.given();
  return pose(read_drn(write_drn(given), "m.drn", write_drn_terms(given), "m.terms.json"));
}

TEST(Drn, ReadsWhatStormWrites) {
  const Draft draft = read_drn_text(kHeader + kBody);
  const Model& m = draft.model;
  EXPECT_EQ(m.states(), 3);
  EXPECT_EQ(m.rows(), 3);
  EXPECT_FALSE(draft.rewarded);
  EXPECT_EQ(draft.terms.start, Start(0));
  EXPECT_EQ(m.arrays().signals[0].name, "time");
  EXPECT_EQ(m.value(0, 0), 1);    // of the state
  EXPECT_EQ(m.value(1, 0), 2.5);  // of the action
  EXPECT_EQ(m.arrays().probability[1], 0.75);
  EXPECT_EQ(m.arrays().action_names, (std::vector<std::string>{"go", "stay"}));
  EXPECT_EQ(m.state_name(2), "x=1, y=false");
  EXPECT_EQ(m.find_label("safe")->states, (std::vector<State>{0, 1}));
  EXPECT_EQ(m.find_label("the goal")->states, (std::vector<State>{1}));
  EXPECT_EQ(m.row_begin(0, 2), m.row_end(0, 2));  // terminal
}

TEST(Drn, IntervalsPlaceholdersAndRewardsThatAreIntervals) {
  const Draft draft = read_drn_text(
      "// Exported by storm\n@type: MDP\n@value_type: double-interval\n@parameters\n\n"
      "@placeholders\n$0 : [0.5, 0.8]\n@reward_models\n\n@nr_states\n3\n@model\n"
      "state 0 [[2, 2]] init\n\taction 0\n\t\t1 : [0.4, 0.9]\n\t\t2 : $0\n"
      "state 1\n\taction 0 [[1, 1]]\n\t\t1 : [1, 1]\nstate 2\n\taction 0\n\t\t2 : [1, 1]\n");
  EXPECT_TRUE(draft.rewarded);  // the nameless one
  EXPECT_EQ(draft.terms.uncertainty, Uncertainty(Interval{}));
  EXPECT_EQ(draft.model.arrays().upper[0], 0.9);
  EXPECT_EQ(draft.model.arrays().lower[1], 0.5);
  EXPECT_EQ(draft.model.value(-1, 0), 2);
  EXPECT_EQ(draft.model.value(-1, 1), 1);
  EXPECT_TRUE(draft.model.arrays().action_names.empty());
}

TEST(Drn, ActionsOfAStateWithTheSameLabelAreToldApart) {
  const Draft draft = read_drn_text(
      "@type: MDP\n@nr_states\n1\n@model\nstate 0\n\taction go\n\t\t0 : 1\n\taction go\n\t\t0 : 1\n"
      "\taction __NOLABEL__\n\t\t0 : 1\n");
  EXPECT_EQ(draft.model.action_name(draft.model.arrays().action[0]), "go");
  EXPECT_EQ(draft.model.rows(), 3);
  const Draft unnamed = read_drn_text(
      "@type: MDP\n@nr_states\n1\n@model\nstate 0\n\taction __NOLABEL__\n\t\t0 : 1\n"
      "\taction __NOLABEL__\n\t\t0 : 1\n");
  EXPECT_EQ(unnamed.model.arrays().action, (std::vector<std::int32_t>{0, 1}));
}

RC_GTEST_PROP(Drn, RoundTripKeepsEveryBit, (std::uint64_t seed)) {
  auto options = testing::random_options(seed);
  options.outcome_values = options.arrivals = false;
  const Problem p = testing::with_plain_labels(testing::random_problem(seed, options));
  RC_ASSERT(drn_and_back(p) == p);
}

TEST(Drn, RoundTripKeepsLabelsInTheirOrderAndEmptyOnes) {
  ModelArrays a = testing::random_model(1).arrays();
  a.labels = {{"late goal", {3}}, {"early", {0, 2}}, {"none", {}}};
  const Problem p(Model(a), {.horizon = 2});
  EXPECT_EQ(drn_and_back(p), p);
}

TEST(Drn, RefusesWhatItCannotKeep) {
  testing::RandomOptions options;
  options.outcome_values = true;
  EXPECT_EQ(error_of([&] { write_drn(testing::random_problem(1, options)); }),
            "reward differs between outcomes of a row, which a DRN file cannot keep: write UMB");
  ModelArrays a = testing::random_model(1).arrays();
  a.labels = {{"init", {0}}};
  EXPECT_EQ(error_of([&] { write_drn(Problem(Model(a), {.horizon = 1})); }),
            "label 'init', must have another name: it says where episodes begin");
  a.labels = {{"a\"b", {0}}};
  EXPECT_EQ(error_of([&] { write_drn(Problem(Model(a), {.horizon = 1})); }),
            "label 'a\"b', must have neither quotes nor line ends in a DRN file");
  a.labels.clear();
  a.signals[0].name = "two words";
  EXPECT_EQ(error_of([&] { write_drn(Problem(Model(a), {.horizon = 1})); }),
            "signal 'two words', must have no blanks in its name in a DRN file");
}

TEST(Drn, ErrorsOfTheHeaderNameTheLine) {
  EXPECT_EQ(header_error(""), "m.drn: @type is missing, must be given before @model");
  EXPECT_EQ(header_error("@type: POMDP\n"),
            "m.drn: line 1: @type: POMDP, must be MDP or DTMC: what a policy sees is the state");
  EXPECT_EQ(header_error("@type: CTMC\n"),
            "m.drn: line 1: @type: CTMC, must be MDP or DTMC: time is counted in decisions");
  EXPECT_EQ(header_error("@type: MDP\n@value_type: parametric\n"),
            "m.drn: line 2: @value_type: parametric, must be of numbers or intervals: parameters "
            "have no values here");
  EXPECT_EQ(header_error("@type: MDP\n@parameters\np q\n"),
            "m.drn: line 3: p q, must be empty: parameters have no values here");
  EXPECT_EQ(header_error("@type: MDP\n@nr_states\nmany\n"),
            "m.drn: line 3: many, must be a whole number up to 2147483646");
  EXPECT_EQ(header_error("@type: MDP\n@nr_states\n"),
            "m.drn: line 2: the header ends, must go on to @model");
  EXPECT_EQ(header_error("@type: MDP\n@modle\n"),
            "m.drn: line 2: @modle, must be a line of the header, such as @type: MDP or @model");
  EXPECT_EQ(header_error("@type: MDP\n@placeholders\n$0 : x\n"),
            "m.drn: line 3: $0 : x, must be a placeholder with a number, such as $0 : 0.25");
  EXPECT_EQ(header_error("@type: MDP\n@model\n"),
            "m.drn: @nr_states is missing, must be given and at least 1");
  EXPECT_EQ(header_error("@type: MDP\n@nr_states\n1\n"), "m.drn: @model is missing, must be given");
  EXPECT_EQ(header_error("@type: MDP\n@nr_states\n2000000000\n@model\n"),
            "m.drn: 2000000000 states in a file of 40 bytes, must be at most 1001280");
}

TEST(Drn, ErrorsOfTheModelNameTheLine) {
  EXPECT_EQ(body_error("state 1\n"),
            "m.drn: line 11: state 1, must be state 0: states come in order");
  EXPECT_EQ(body_error("\taction go\n"),
            "m.drn: line 11: \taction go, must come after the state it belongs to");
  EXPECT_EQ(body_error("state 0\n\t\t0 : 1\n"),
            "m.drn: line 12: 0 : 1, must come after the action it belongs to");
  EXPECT_EQ(body_error("state 0\n\taction go\n\t\t3 : 1\n"),
            "m.drn: line 13: 3 : 1, its target must be in 0..2");
  EXPECT_EQ(body_error("state 0\n\taction go\n\t\t0 1\n"),
            "m.drn: line 13: 0 1, must read TARGET : PROBABILITY");
  EXPECT_EQ(body_error("state 0\n\taction go\n\t\t0 : one\n"),
            "m.drn: line 13: one, must be a finite number or an interval");
  EXPECT_EQ(body_error("state 0\n\taction go\n\t\t0 : $7\n"),
            "m.drn: line 13: $7, must be one of the placeholders");
  EXPECT_EQ(body_error("state 0 [1, x]\n"),
            "m.drn: line 11: x, must be a finite number or an interval");
  EXPECT_EQ(body_error("state 0 [1, [0, 1]]\n"),
            "m.drn: line 11: [0, 1], a reward must be a number: the ends of its interval must be "
            "equal");
  EXPECT_EQ(body_error("state 0 [1\n"), "m.drn: line 11: state 0 [1, its bracket must be closed");
  EXPECT_EQ(body_error("state 0 \"goal\n"),
            "m.drn: line 11: state 0 \"goal, its quote must be closed");
  EXPECT_EQ(body_error("state 0 {1}\n"), "m.drn: line 11: state 0 {1}, must have no observation");
  EXPECT_EQ(body_error("state 0 !1\n"), "m.drn: line 11: state 0 !1, must have no rate");
  EXPECT_EQ(body_error("state 0\n\taction go [1] now\n"),
            "m.drn: line 12: \taction go [1] now, must end after the action and its rewards");
  EXPECT_EQ(body_error("state 0\n\taction go\n\t\t0 : 1\n"),
            "m.drn: 1 states, must be 3, which @nr_states says");
  EXPECT_EQ(body_error("state 0\n\taction go\n\t\t0 : 1\nstate 1\nstate 2\n"),
            "m.drn: 1 choices, must be 3, which @nr_choices says");
  EXPECT_EQ(body_error("state 0\n\taction __TERMINAL__\n\t\t1 : 1\n"),
            "m.drn: line 13: 1 : 1, must lead from a terminal state to itself with probability 1");
  EXPECT_EQ(drn_error("@type: MDP\n@nr_states\n1\n@model\nstate 0\n\taction go\n\t\t0 : 0.98\n"),
            "m.drn: probabilities of (state 0, action go) sum to 0.98, must sum to 1 within 1e-09");
  EXPECT_EQ(drn_error("@type: MDP\n@nr_states\n1\n@model\nstate 0 [3]\n"),
            "m.drn: reward 'rew0' of state 0 = 3, must be 0: the state has no choice, so nothing "
            "is earned in it");
}

}  // namespace
}  // namespace redoubt
