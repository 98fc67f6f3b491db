#pragma once

#include "redoubt/model.h"

namespace redoubt::internal {

// Bytes that the arrays of a model take.
inline double bytes_of(const Model& model) {
  const ModelArrays& a = model.arrays();
  const auto of = [](const auto& list) {
    return static_cast<double>(list.size() * sizeof list[0]);
  };
  double bytes = of(a.state_rows) + of(a.action) + of(a.row_outcomes) + of(a.next) +
                 of(a.probability) + of(a.reward) + of(a.outcome_reward) + of(a.lower) +
                 of(a.upper);
  bytes += of(a.arrival_reward);
  for (const Signal& signal : a.signals)
    bytes += of(signal.row) + of(signal.outcome) + of(signal.arrival);
  // Of submodels: number and owner of a state, its place among our own, and the state of a place.
  if (a.submodel) bytes += 4.0 * sizeof(State) * a.states;
  return bytes;
}

}  // namespace redoubt::internal
