#pragma once

#include <vector>

#include "model/end_components.h"

namespace redoubt::internal {

struct Collapsed {
  Model model;
  Terms terms;
  std::vector<State> state;   // of each state, one that it stands for
  std::vector<State> number;  // of each state of the model that was: the one here; -1: left out
  std::vector<Row> row;       // of each row, the one that was; -1: it stays for ever
};

// The part of a model that episodes can come to by the rows that are kept, with each of these
// components as one state. That state has the rows that lead out of its members and, unless its
// members are `unfinished` (empty: none are), an action that stays for ever.
Collapsed collapse(const Model& model, const Terms& terms, const std::vector<char>& keep,
                   const EndComponents& components, const std::vector<char>& unfinished);

}  // namespace redoubt::internal
