#pragma once

#include <vector>

#include "model/support.h"

namespace redoubt::internal {

// Sets of states in which an episode can be kept for ever while it can come from each of them to
// each other, as large as they can be, with the rows that keep it there.
struct EndComponents {
  std::vector<std::vector<State>> states;  // of each component, ascending
  std::vector<std::vector<Row>> rows;      // of each component, ascending
  std::vector<int> of_state;               // -1: in none
};

// Of the rows of which use(row) is true. `keep` decides whether a row can keep an episode within
// states: may_stay of a Support for whatever nature can do, stays for whatever it does. A policy
// that takes all of them with positive probability is kept where each of a state's rows can be.
enum class Keep {
  by_some_kernel,
  by_every_kernel,
  each_by_some_kernel,
};
EndComponents end_components(const Model& model, const Support& support, Keep keep,
                             const std::vector<char>& use);

// Whether there is one, by some kernel.
bool has_end_component(const Model& model, const Support& support, const std::vector<char>& use);

// The states in which nature can keep a policy for ever that takes the rows of which use(row) is
// true, each with positive probability.
std::vector<State> never_left(const Model& model, const Support& support,
                              const std::vector<char>& use);

// Where a policy can make an episode come to the states of a set with certainty, whatever nature
// does: of each state, whether it is there, and a row that does so (-1 in the set itself, and where
// there is none).
struct SureReach {
  std::vector<char> sure;
  std::vector<Row> row;
};
SureReach sure_reach(const Model& model, const Support& support, const std::vector<char>& set);

}  // namespace redoubt::internal
