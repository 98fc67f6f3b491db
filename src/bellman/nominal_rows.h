#pragma once

#include "bellman/row_evaluator.h"

namespace redoubt::internal {

inline bool is_nominal(const Problem& problem) {
  return std::holds_alternative<Nominal>(problem.uncertainty());
}

inline SparseRows nominal_rows(const Model& model) {
  const ModelArrays& arrays = model.arrays();
  return {arrays.row_outcomes.data(), arrays.next.data(), arrays.probability.data()};
}

// What a row earns in a channel, in expectation over its nominal outcomes.
inline double nominal_earned(const Model& model, const Channel& channel, Row row) {
  double earned = model.value(channel.signal, row);
  const std::vector<double>& extra = model.outcome_values(channel.signal);
  if (!extra.empty()) {
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
      earned += model.arrays().probability[i] * extra[i];
  }
  return channel.sign * earned;
}

}  // namespace redoubt::internal
