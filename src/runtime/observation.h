#pragma once

#include <vector>

#include "redoubt/controller.h"

namespace redoubt::internal {

// The place of an action in the list of a state; an Error where it has none.
std::int32_t position_of(const Model& model, int stage, State state, std::int32_t action);

// The outcomes of a row that an observation may mean, counted from the first; the number of
// outcomes is a landing outside of them. Not exact: none has just the signals that were observed.
struct Meaning {
  std::vector<std::int64_t> outcomes;
  bool exact = true;
};

// The outcomes that lead to the state and, of these, the nearest to the signals.
Meaning meaning_of(const Problem& problem, Row row, State next, const ObservedSignals& signals);

// Errors for signals that the model does not have, for a next state that the row never leads to,
// and for signals that none of its outcomes has.
void check_signals(const Model& model, const ObservedSignals& signals);
void require_meaning(const Model& model, Row row, State next, const Meaning& meaning);

}  // namespace redoubt::internal
