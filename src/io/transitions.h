#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "redoubt/model.h"

namespace redoubt::internal::io {

inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

// The outcomes of a model in the order in which a file lists them, by columns. Text formats fill
// this; `assemble` sorts it into rows.
struct Transitions {
  std::vector<std::int32_t> stage;  // empty: the rows hold at every stage
  std::vector<State> state;
  std::vector<std::int32_t> action;
  std::vector<State> next;
  std::vector<double> probability;           // or kAbsent: lies between the bounds
  std::vector<double> reward;                // of the outcome
  std::vector<std::vector<double>> signals;  // of the outcome, one list for each signal
  std::vector<double> lower, upper;          // or kAbsent: equal to the probability

  std::size_t size() const { return state.size(); }
};

// Fills state_rows, action and everything that belongs to outcomes. `arrays` brings states, stages
// and the names of the signals.
void assemble(Transitions transitions, ModelArrays& arrays);

// A probability for each outcome of a row that has only bounds: the same share of every interval.
// Leaves rows alone that have their probabilities, and those whose bounds do not enclose one: the
// model complains of them.
void place_between_bounds(ModelArrays& arrays);

// Makes rows that hold at every stage into one copy for each stage.
void repeat_for_stages(ModelArrays& arrays, int stages);

}  // namespace redoubt::internal::io
