#pragma once

#include <string_view>

#include "redoubt/model.h"
#include "redoubt/problem.h"
#include "redoubt/uncertainty.h"

// Sets whose radius belongs to a state.
namespace redoubt::internal {

// Gives every row the radius of its state, where radii are those of states. Where they are those of
// rows, the rows of a state must have the same, and it becomes that of the state.
void spread_radii_of_states(const Model& model, Uncertainty& uncertainty);

inline bool shares_radius(const Problem& problem) {
  return scope_of(problem.uncertainty()) == Scope::state;
}

// An Error that says that `what` (a method, a verb) knows no sets of scope state.
void require_row_scope(const Uncertainty& uncertainty, std::string_view what);

}  // namespace redoubt::internal
