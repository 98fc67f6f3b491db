#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "redoubt/io.h"
#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;

const std::string kRobot =
    "# Transitions (IMDP)\n3 4 6\n"
    "0 0 0 [0.4,0.4] east\n0 0 1 [0.6,0.6] east\n"
    "0 1 1 [0.1,0.3] south\n0 1 2 [0.7,0.9] south\n"
    "1 0 2 [1,1] east\n2 0 2 [1,1]\n";
const std::string kRest =
    "\n# States\n(s,ok)\n0:(0,true)\n1:(1,true)\n2:(2,false)\n"
    "\n# Labels\n0=\"init\" 1=\"deadlock\" 2=\"the goal\"\n0: 0\n2: 2\n"
    "\n# Reward structure \"time\"\n# State rewards\n3 3\n0 1\n1 1\n2 1\n"
    "\n# Reward structure \"time\"\n# Transition rewards\n3 4 0\n"
    "\n# Reward structure \"energy\"\n# Transition rewards\n3 4 3\n0 1 1 2\n0 1 2 2\n1 0 2 0.5\n";

Draft read_pexp(const std::string& text) { return read_prism({{"m.pexp", text}}); }
std::string pexp_error(const std::string& text) {
  return error_of([&] { read_pexp(text); });
}
std::string tra_error(const std::string& text) {
  return error_of([&] { read_prism({{"m.tra", text}}); });
}
// An error in a file beside a small model.
std::string beside_error(const std::string& name, const std::string& text) {
  return error_of([&] { read_prism({{"m.tra", "2 2 2\n0 0 1 1\n1 0 1 1\n"}, {name, text}}); });
}

Problem pexp_and_back(const Problem& p) {
  const Draft given = p.given();
  return pose(
      read_prism({{"m.pexp", write_pexp(given)}}, write_prism_terms(given), "m.terms.json"));
}

TEST(Prism, ReadsOneFileOfAllParts) {
  const Draft draft = read_pexp(kRobot + kRest);
  const Model& m = draft.model;
  EXPECT_EQ(m.states(), 3);
  EXPECT_EQ(m.rows(), 4);
  EXPECT_EQ(draft.terms.uncertainty, Uncertainty(Interval{}));
  EXPECT_EQ(m.arrays().upper[2], 0.3);
  EXPECT_EQ(m.arrays().signals[0].name, "time");
  EXPECT_EQ(m.value(0, 0), 1);
  EXPECT_EQ(m.value(1, 1), 2);  // the same on both branches: the row's
  EXPECT_TRUE(m.outcome_values(1).empty());
  EXPECT_EQ(m.state_name(2), "s=2, ok=false");
  EXPECT_EQ(m.find_label("the goal")->states, (std::vector<State>{2}));
  EXPECT_TRUE(m.find_label("deadlock")->states.empty());
  EXPECT_EQ(m.find_label("init"), nullptr);
  EXPECT_EQ(draft.terms.start, Start(0));
}

TEST(Prism, FilesBesideEachOtherAreTheSame) {
  const Draft whole = read_pexp(kRobot + kRest);
  const Draft apart = read_prism(
      {{"m.tra", kRobot},
       {"m.sta", "(s,ok)\n0:(0,true)\n1:(1,true)\n2:(2,false)\n"},
       {"m.lab", "0=\"init\" 1=\"deadlock\" 2=\"the goal\"\n0: 0\n2: 2\n"},
       {"m1.srew", "# Reward structure: \"time\"\n# State rewards\n3 3\n0 1\n1 1\n2 1\n"},
       {"m2.trew", "# Reward structure \"energy\"\n3 4 3\n0 1 1 2\n0 1 2 2\n1 0 2 0.5\n"}});
  EXPECT_EQ(apart.model, whole.model);
  EXPECT_EQ(apart.terms, whole.terms);
}

TEST(Prism, RowsChainsAndTheWordsOfStorm) {
  const Model by_line =
      read_prism({{"m.tra", "3 3 4\n0 0 1 0.1 a\n0 0 2 0.9 a\n0 1 0 1 b\n1 0 1 1\n"}}).model;
  const Model by_row = read_prism({{"m.tra", "3 3 4\n0 0.1:1 0.9:2 a\n0 1:0 b\n1 1:1\n"}}).model;
  EXPECT_EQ(by_line, by_row);
  const Model chain = read_prism({{"m.tra", "2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n"}}).model;
  EXPECT_EQ(chain.rows(), 2);
  const Draft storm =
      read_prism({{"m.tra", "mdp\n0 0 1 1/2\n0 0 2 0.5\n0 1 2 1\n1 0 1 1\n2 0 2 1\n"},
                  {"m.lab", "#DECLARATION\ninit deadlock done\n#END\n1 init\n2 done\n"}});
  EXPECT_EQ(storm.model.states(), 3);
  EXPECT_EQ(storm.terms.start, Start(1));
  EXPECT_EQ(storm.model.find_label("done")->states, (std::vector<State>{2}));
}

TEST(Prism, RewardsWithoutANameAreTheReward) {
  const std::string tra = "2 2 3\n0 0 0 0.5\n0 0 1 0.5\n1 0 1 1\n";
  const Draft one =
      read_prism({{"m.tra", tra}, {"m.srew", "2 1\n0 3\n"}, {"m.trew", "2 2 1\n0 0 1 2\n"}});
  EXPECT_TRUE(one.rewarded);
  EXPECT_EQ(one.model.value(-1, 0) + one.model.outcome_value(-1, 0), 3);
  EXPECT_EQ(one.model.value(-1, 0) + one.model.outcome_value(-1, 1), 5);
  const Draft two =
      read_prism({{"m.tra", tra}, {"m1.srew", "2 1\n0 3\n"}, {"m2.srew", "2 1\n1 4\n"}});
  EXPECT_FALSE(two.rewarded);
  EXPECT_EQ(two.model.arrays().signals[1].name, "reward2");
  const Draft rows = read_prism({{"m.tra", tra}, {"m.trew", "2 2 1\n0 2:1\n1\n"}});
  EXPECT_EQ(rows.model.outcome_value(-1, 1), 2);
}

RC_GTEST_PROP(Prism, RoundTripKeepsEveryBit, (std::uint64_t seed)) {
  auto options = testing::random_options(seed);
  options.outcome_values = options.arrivals = false;
  const Problem p = testing::with_plain_labels(testing::random_problem(seed, options));
  RC_ASSERT(pexp_and_back(p) == p);
  const Draft given = p.given();
  RC_ASSERT(pose(read_prism(write_prism(given, "m"), write_prism_terms(given), "m.terms.json")) ==
            p);
}

TEST(Prism, RoundTripKeepsValuationsLabelsAndRewardsOfOutcomes) {
  const Draft draft = read_pexp(kRobot + kRest);
  const Problem p =
      pose({draft.model, {.horizon = 3, .start = Start(0), .uncertainty = Interval{}}, true});
  EXPECT_EQ(pexp_and_back(p), p);
  EXPECT_EQ(read_pexp(write_pexp(p.given())).model.arrays().state_names,
            p.model().arrays().state_names);
  ModelBuilder builder(2, {});
  builder.add(0, 0, 0,
              {.outcomes = {{.next = 0, .probability = .5, .reward = 1},
                            {.next = 1, .probability = .5, .reward = 2}}});
  const Problem outcomes(builder.build(), {.horizon = 2});
  EXPECT_EQ(pexp_and_back(outcomes), outcomes);
}

TEST(Prism, RefusesWhatItCannotKeep) {
  ModelBuilder builder(1, {});
  builder.add(0, 0, 0,
              {.outcomes = {{.next = 0, .probability = .5, .reward = 1},
                            {.next = 0, .probability = .5, .reward = 2}}});
  EXPECT_EQ(error_of([&] { write_pexp(Problem(builder.build(), {.horizon = 1}).given()); }),
            "(state 0, action 0) has two outcomes with the same next state and different values, "
            "which a PRISM file cannot keep: write UMB");
  ModelArrays a = testing::random_model(1).arrays();
  a.labels = {{"init", {0}}};
  EXPECT_EQ(error_of([&] { write_pexp(Problem(Model(a), {.horizon = 1}).given()); }),
            "label 'init', must have another name: it says where episodes begin");
}

TEST(Prism, ErrorsOfTransitionsNameTheLine) {
  EXPECT_EQ(tra_error(""),
            "m.tra: is empty, must begin with the numbers of states and transitions");
  EXPECT_EQ(
      tra_error("# Transitions (CTMC)\n1 1\n0 0 1\n"),
      "m.tra: a model of type CTMC, must be an MDP or a DTMC, with probabilities or intervals");
  EXPECT_EQ(
      tra_error("2 2 2 1\n"),
      "m.tra: line 1: 2 2 2 1, must be three numbers: observations mean that states are hidden");
  EXPECT_EQ(tra_error("two 2 2\n"),
            "m.tra: line 1: two 2 2, must be the numbers of states, choices and transitions");
  EXPECT_EQ(tra_error("2 1 1\n0 0 2 1\n"),
            "m.tra: line 2: 0 0 2 1, its states must be whole numbers in 0..1");
  EXPECT_EQ(tra_error("2 1 1\n0 0 1\n"),
            "m.tra: line 2: 0 0 1, must read STATE CHOICE TARGET PROBABILITY [ACTION]");
  EXPECT_EQ(tra_error("2 1 1\n0 0 1 one\n"),
            "m.tra: line 2: 0 0 1 one, its probability must be a finite number or an interval");
  EXPECT_EQ(tra_error("2 2 2\n1 0 1 1\n0 0 1 1\n"),
            "m.tra: line 3: 0 0 1 1, must come in the order of states");
  EXPECT_EQ(tra_error("2 2 2\n0 0 1 1\n0 2 1 1\n"),
            "m.tra: line 3: 0 2 1 1, must be choice 0 or 1 of its state: choices come in order");
  EXPECT_EQ(tra_error("2 1 2\n0 0 1 0.5 a\n0 0 1 0.5 b\n"),
            "m.tra: line 3: 0 0 1 0.5 b, must have the action of the line before, which is of the "
            "same choice");
  EXPECT_EQ(tra_error("2 2 1\n0 0 1 1\n"),
            "m.tra: 1 choices, must be 2, which the first line says");
  EXPECT_EQ(tra_error("2 1 2\n0 0 1 1\n"),
            "m.tra: 1 transitions, must be 2, which the first line says");
  EXPECT_EQ(tra_error("2 1 1\n0 1:7\n"),
            "m.tra: line 2: 1:7, must read PROBABILITY:TARGET with a target in 0..1");
  EXPECT_EQ(tra_error("2000000000 1 1\n"),
            "m.tra: 2000000000 states in a file of 15 bytes, must be at most 1000480");
  EXPECT_EQ(tra_error("1 1 1\n0 0 0 0.98\n"),
            "m.tra: probabilities of (state 0, action 0) sum to 0.98, must sum to 1 within 1e-09");
  EXPECT_EQ(pexp_error("0 0 0 1\n"),
            "m.pexp: line 1: a part without a heading, must have one, such as # States");
  EXPECT_EQ(pexp_error("# States\n(s)\n0:(0)\n"), "m.pexp: has no transitions, must have them");
  EXPECT_EQ(pexp_error(kRobot + "\n" + kRobot), "m.pexp: two parts of the same kind, must be one");
}

TEST(Prism, ErrorsOfOtherFilesNameTheLine) {
  EXPECT_EQ(beside_error("m.sta", "s\n"),
            "m.sta: line 1: s, must have its variables in parentheses");
  EXPECT_EQ(beside_error("m.sta", "(s)\n0:(1,2)\n"),
            "m.sta: line 2: 0:(1,2), must have 1 values, one for each variable");
  EXPECT_EQ(beside_error("m.sta", "(s)\n0:(1)\n"),
            "m.sta: 1 states, must be 2, as in the transitions");
  EXPECT_EQ(beside_error("m.sta", "(s)\n7:(1)\n"),
            "m.sta: line 2: 7:(1), its state must be a whole number in 0..1");
  EXPECT_EQ(beside_error("m.lab", "init\n"),
            "m.lab: line 1: init, must declare labels, as in 0=\"init\" 1=\"goal\"");
  EXPECT_EQ(beside_error("m.lab", "0=\"init\"\n0: 1\n"),
            "m.lab: line 2: 0: 1, must name labels that the first line declares");
  EXPECT_EQ(beside_error("m.lab", "0=\"init\"\n0 0\n"),
            "m.lab: line 2: 0 0, must read STATE: LABELS");
  EXPECT_EQ(beside_error("m.lab", "#DECLARATION\ninit\n"),
            "m.lab: line 2: #END, must follow the names of labels");
  EXPECT_EQ(beside_error("m.lab", "#DECLARATION\ninit\n#END\n0 goal\n"),
            "m.lab: line 4: goal, must be one of the labels that are declared");
  EXPECT_EQ(
      beside_error("m.srew", "3 1\n0 1\n"),
      "m.srew: line 1: 3 1, must be 2 numbers, of which the first is 2, as in the transitions");
  EXPECT_EQ(beside_error("m.srew", "2 1\n0 0 1\n"),
            "m.srew: line 2: 0 0 1, must read STATE REWARD");
  EXPECT_EQ(beside_error("m.srew", "2 1\n0 x\n"),
            "m.srew: line 2: 0 x, its reward must be a finite number");
  EXPECT_EQ(beside_error("m.trew", "2 2 1\n0 0 0 1\n"),
            "m.trew: line 2: 0 0 0 1, must be of a transition that there is");
  EXPECT_EQ(beside_error("m.trew", "2 2 1\n0 3 1 1\n"),
            "m.trew: line 2: 0 3 1 1, must be of a choice that the transitions have");
  EXPECT_EQ(beside_error("m.trew", "2 2 1\n0 0 1\n"),
            "m.trew: line 2: 0 0 1, must read STATE CHOICE TARGET REWARD");
}

}  // namespace
}  // namespace redoubt
