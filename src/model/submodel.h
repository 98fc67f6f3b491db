#pragma once

#include <vector>

#include "redoubt/advanced/ranks.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// An Error unless it divides this many states.
void check_partition(const Partition& partition, State states);

// Turns the rows of some states into a submodel. `rows` has those of the states that the rank owns
// and no others (state_rows has one entry for each of them and stage, and one more), but next
// states in the numbers of the whole model. `known` are states that every submodel has, whether its
// rows lead there or not.
ModelArrays make_submodel(ModelArrays rows, const Partition& partition, int rank,
                          const std::vector<State>& known, int actions);

// The same as a problem: `terms` are those of the whole problem, with radii of these rows. Where
// episodes end is found in whole models only.
Problem make_submodel(ModelArrays rows, const Partition& partition, int rank, int actions,
                      Terms terms, bool ends_are_known);

// The number that a state of a model, which may be a submodel, has in the whole one.
inline State whole_number(const Model& model, State state) {
  return model.arrays().submodel ? model.arrays().submodel->number[state] : state;
}

// The number that a state of the whole model has in a submodel; -1 when that does not have it.
State find_in_submodel(const Submodel& part, State whole);
// The same of a submodel that has it.
State number_in_submodel(const Submodel& part, State whole);
inline State number_here(const Model& model, State whole) {
  return model.arrays().submodel ? number_in_submodel(*model.arrays().submodel, whole) : whole;
}

// Model::lists for a state of the whole model, which a submodel need not have.
bool row_lists(const Model& model, Row row, State whole);
// The states for which that is true; they increase.
void listed_states(const Model& model, Row row, std::vector<State>& listed);

}  // namespace redoubt::internal
