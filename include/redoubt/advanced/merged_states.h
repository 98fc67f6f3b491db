#pragma once

#include <vector>

#include "redoubt/model.h"

namespace redoubt {

// How the states of a problem came from those of a larger model, in which goals are signals
// already: end components that pay nothing have become one state each, and rows and states that no
// policy of any worth comes to were left out.
struct MergedStates {
  Model model;                     // the larger one
  std::vector<State> given_state;  // of each of its states; empty: they are the same
  std::vector<State> state;        // of each of its states: the one of the problem; -1: left out
  std::vector<Row> row;     // of each row of the problem: the one of the larger model; -1: none, it
                            // stays in its component for ever
  std::vector<char> inner;  // of each row of the larger model: it stays in its component

  bool in_component(State larger) const {
    for (Row r = model.row_begin(0, larger); r < model.row_end(0, larger); ++r)
      if (inner[r]) return true;
    return false;
  }
};

}  // namespace redoubt
