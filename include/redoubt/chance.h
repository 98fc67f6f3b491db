#pragma once

#include <cstdint>
#include <vector>

#include "redoubt/policy.h"
#include "redoubt/problem.h"

namespace redoubt {

// The constraint as a chance constraint: the total itself must keep the bound, with at least this
// probability in the worst case.
Constraint with_probability(Constraint constraint, double probability);

bool has_chance_constraints(const Problem& problem);

// A problem with chance constraints as an ordinary one. A state of it is a state together with what
// the total of each chance constraint must still earn, on a grid; of those pairs it has the ones
// that episodes can come to. Whether nothing more is to be earned is a signal of its own, 1 or 0,
// and a chance constraint asks for its expectation. Rows earn the change of that signal, so that
// its total is its value at the end less `kept_at_start`. Rewards are discounted in advance: the
// discount is one.
struct AugmentedProblem {
  Problem original;
  Problem problem;
  std::vector<int> chance;         // the constraints that are chance constraints
  std::vector<BudgetAxis> budget;  // the grid of each; rounded against the policy unless exact
  std::vector<std::vector<double>> kept;  // of each: 1 where nothing more is to be earned, else 0
  std::vector<State> state;  // of each augmented state: its state, in the whole original model
  // For each outcome of the augmented model, the outcome of the original row that it is, counted
  // from its first; the number of outcomes stands for a landing.
  std::vector<std::int32_t> outcome;

  double kept_at_start(int index) const { return kept[index][problem.start().states.front()]; }
  bool exact() const;  // no total is rounded: the two problems ask for the same
};

// Needs a finite horizon. Error, with the memory it would take, when the pairs are too many.
AugmentedProblem augment(const Problem& problem);

// A policy of the augmented problem as one of the original: it remembers the budgets itself.
// Memory states of the first stage keep their numbers.
Policy to_original(const AugmentedProblem& augmented, const Policy& policy);

// Any policy of the original problem as one of the augmented: it goes on as it was, and the states
// remember the budgets.
Policy to_augmented(const AugmentedProblem& augmented, const Policy& policy);

}  // namespace redoubt
