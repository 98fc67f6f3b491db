#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ends.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// A model in which what was said of labels is said of signals, under the same names, and the terms
// for it.
struct WithGoals {
  Model model;
  Terms terms;
  std::vector<State> state;  // of each state, the one of the model that was given
  Unfinished unfinished;     // where steps or a total until a label still count
};

// Whether a constraint or the objective has the words of a goal and is not the name of a signal.
bool is_goal(const Model& model, const std::string& words);
bool speaks_of_goals(const Model& model, const Terms& terms);

// Has the same states where nothing must be remembered: the label ends the episode, or nothing that
// is asked for follows it. Otherwise a state of it is a state together with which goals are
// decided, as far as episodes can come to such pairs. The start is canonical, the set is checked.
// States from number `ordinary` on are on the way from a decision to a state: steps do not count
// them, and they decide no goal.
WithGoals with_goals(const Model& model, const Terms& terms, State ordinary);

// What the words of goal.h say.
struct Goal {
  enum class Kind { reach, avoid, until, steps, total };
  Kind kind = Kind::reach;
  std::string label;
  std::string before = {};  // until
  std::string signal = {};  // total
  bool operator==(const Goal&) const = default;
};

// None: the text is not that of a goal.
std::optional<Goal> parse_goal(std::string_view text);

// A goal with the states that decide it.
struct DecidedGoal {
  std::string name;  // the words
  Goal goal;
  int signal = -1;                  // total: which signal of the model; -1: the reward
  int end = 0;                      // which of the ends decides it
  std::vector<char> at_label = {};  // of each state: whether it has the label

  bool is_probability() const {
    return goal.kind == Goal::Kind::reach || goal.kind == Goal::Kind::avoid ||
           goal.kind == Goal::Kind::until;
  }
  // What an arrival in a state earns while the goal is undecided.
  double arrival(State state) const {
    if (!is_probability() || !at_label[state]) return 0;
    return goal.kind == Goal::Kind::avoid ? -1 : 1;
  }
  // What the start is worth before anything is decided.
  double at_start(State state) const {
    if (!is_probability()) return 0;
    return (goal.kind == Goal::Kind::avoid) != (at_label[state] != 0) ? 1 : 0;
  }
};

// All goals of the terms. Goals that the same states decide share an end.
struct GoalSets {
  std::vector<DecidedGoal> goals;
  std::vector<std::vector<char>> ends;  // of each end and state: whether it decides
  bool nothing_else = true;             // the terms speak of goals only
  State ordinary = 0;                   // states from this number on are on the way to others
};
// An Error when a label is unknown, or when there is something that has no meaning for a goal.
GoalSets find_goals(const Model& model, const Terms& terms, State ordinary);

}  // namespace redoubt::internal
