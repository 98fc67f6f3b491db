#pragma once

#include <string_view>

#include "redoubt/problem.h"

// What callers ask of a set without knowing which it is.
namespace redoubt::internal {

// Whether rows are known by the bounds of the model, which must then have some.
bool needs_bounds(const Uncertainty& set);

// Whether nature may move mass to states that a row does not list.
bool lands_anywhere(const Uncertainty& set);

// For models in which landings have become outcomes.
void keep_to_support(Uncertainty& set);

double radius_of(const Uncertainty& set, std::int64_t row);  // 0: the set has none

// Sets whose radius belongs to a state.
// Gives every row the radius of its state, where radii are those of states. Where they are those of
// rows, the rows of a state must have the same, and it becomes that of the state.
void spread_radii_of_states(const Model& model, Uncertainty& uncertainty);

inline bool shares_radius(const Problem& problem) {
  return scope_of(problem.uncertainty()) == Scope::state;
}

// An Error that says that `what` (a method, a verb) knows no sets of scope state.
void require_row_scope(const Uncertainty& uncertainty, std::string_view what);

}  // namespace redoubt::internal
