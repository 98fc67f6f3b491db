#pragma once

#include <string>
#include <vector>

#include "model/goals.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

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
