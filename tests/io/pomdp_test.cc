#include <gtest/gtest.h>

#include "redoubt/io.h"
#include "support/expect_error.h"

namespace redoubt {
namespace {

using testing::error_of;

const std::string kTiger = R"(# A door hides a tiger.
discount: 0.95
values: reward
states: tiger-left tiger-right
actions: listen open-left open-right
observations: hear-left hear-right
start: uniform

T: listen
identity
T: open-left
uniform
T: open-right : tiger-left
0.5 0.5
T: open-right : tiger-right : * 0.5

O: listen
0.85 0.15
0.15 0.85
O: open-left
uniform
O: open-right
uniform

R: listen : * : * : * -1
R: open-left : tiger-left : * : * -100
R: open-left : tiger-right : * : * 10
R: open-right : tiger-left : * : * 10
R: open-right : tiger-right : * : * -100
)";

const std::string kNames = "states: 2\nactions: a b\nobservations: 2\n";

std::string pomdp_error(const std::string& text) {
  return error_of([&] { read_pomdp(text, "m.pomdp"); });
}

TEST(Pomdp, IsReadAsAnMdpAndSaysSo) {
  std::vector<std::string> notes;
  const Draft draft = read_pomdp(kTiger, "tiger.pomdp", &notes);
  const Model& m = draft.model;
  EXPECT_EQ(m.states(), 2);
  EXPECT_EQ(m.rows(), 6);
  EXPECT_EQ(draft.terms.discount, 0.95);
  EXPECT_EQ(draft.terms.start.probability, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(m.state_name(1), "tiger-right");
  EXPECT_EQ(m.action_name(2), "open-right");
  EXPECT_EQ(m.value(-1, 0), -1);
  EXPECT_EQ(m.value(-1, 1), -100);
  EXPECT_EQ(m.value(-1, 5), -100);
  EXPECT_EQ(m.outcome_begin(1) - m.outcome_begin(0), 1);  // listening changes nothing
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("2 observations are ignored"));
}

TEST(Pomdp, CostsNumbersResetsAndStarts) {
  const Draft draft = read_pomdp(
      "discount: .9\nvalues: cost\nstates: 3\nactions: 2\nobservations: 1\nstart include: 0 2\n"
      "T: * : * : 1 1\nT: 1 : 0 reset\nR: 0 : 1 : 1 : 0 4\nR: 1 : 0\n1\n2\n3\n",
      "m.pomdp");
  EXPECT_EQ(draft.terms.objective, (Objective{.signal = "cost", .minimise = true}));
  EXPECT_EQ(draft.terms.start.probability, (std::vector<double>{0.5, 0, 0.5}));
  const Model& m = draft.model;
  EXPECT_EQ(m.value(0, 2), 4);          // state 1, action 0
  EXPECT_EQ(m.outcome_value(0, 1), 1);  // the reset leads to 0 and 2
  EXPECT_EQ(m.outcome_value(0, 2), 3);
  EXPECT_EQ(read_pomdp("states: a b\nactions: 1\nobservations: 1\nstart: b\nT: 0 identity\n", "m")
                .terms.start.probability,
            (std::vector<double>{0, 1}));
}

TEST(Pomdp, ErrorsNameTheLine) {
  EXPECT_EQ(pomdp_error(""), "m.pomdp: states are missing, must be given");
  EXPECT_EQ(pomdp_error("states: 2\n"), "m.pomdp: actions are missing, must be given");
  EXPECT_EQ(
      pomdp_error("state: 2\n"),
      "m.pomdp: line 1: state, must be a keyword of the preamble, such as states, and a colon");
  EXPECT_EQ(pomdp_error("values: money\n"), "m.pomdp: line 1: money, must be reward or cost");
  EXPECT_EQ(pomdp_error("discount: x\n"), "m.pomdp: line 1: x, must be a finite number");
  EXPECT_EQ(pomdp_error("start: 0\nstates: 2\n"),
            "m.pomdp: start comes before states, must come after them");
  EXPECT_EQ(pomdp_error("states: a a\n"), "m.pomdp: 'a' is named twice, must be once");
  EXPECT_EQ(pomdp_error(kNames + "T: c : 0 : 0 1\n"),
            "m.pomdp: line 4: c, must be an action, by name or number");
  EXPECT_EQ(pomdp_error(kNames + "T: a : 2 : 0 1\n"),
            "m.pomdp: line 4: 2, must be a state, by name or number");
  EXPECT_EQ(pomdp_error(kNames + "T: a : 0 : 0 one\n"),
            "m.pomdp: line 4: one, must be a finite number");
  EXPECT_EQ(pomdp_error(kNames + "T: a\n1 0\n0\n"),
            "m.pomdp: line 6: the end, must be a finite number");
  EXPECT_EQ(pomdp_error(kNames + "T: * identity\nR: a : 0 : 0 : 1 5\n"),
            "m.pomdp: line 5: 1, must be *: what is earned must not depend on what is observed");
  EXPECT_EQ(pomdp_error(kNames + "T: * identity\nR: a : 0 : 0\n5 6\n"),
            "m.pomdp: line 6: 6, must be equal for all observations: what is earned must not "
            "depend on them");
  EXPECT_EQ(pomdp_error(kNames + "T: * identity\nR: a 5\n"),
            "m.pomdp: line 5: 5, must be a colon and a state");
  EXPECT_EQ(pomdp_error(kNames + "T: * identity\nstates: 2\n"),
            "m.pomdp: line 5: :, must be T, O or R: the preamble is over");
  EXPECT_EQ(pomdp_error(kNames + "T: a identity\n"),
            "m.pomdp: (state 0, action b) has no outcome, must have at least one");
  EXPECT_EQ(
      pomdp_error(kNames + "T: * : * : 0 0.98\n"),
      "m.pomdp: probabilities of (state 0, action a) sum to 0.98, must sum to 1 within 1e-09");
  EXPECT_EQ(pomdp_error("states: 100000\nactions: 100\nobservations: 1\n"),
            "m.pomdp: 100000 states and 100 actions, must be fewer");
  EXPECT_EQ(pomdp_error("states: 1000\nactions: 10\nobservations: 1\n"),
            "m.pomdp: 10000000 transitions in a file of 41 bytes, must be at most 1001312");
}

}  // namespace
}  // namespace redoubt
