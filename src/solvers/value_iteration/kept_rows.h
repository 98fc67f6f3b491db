#pragma once

#include <vector>

#include "sets/row.h"

namespace redoubt::internal {

// The rows that states take, one behind the other: where hardly any other row can be the best, a
// nominal sweep reads these in place of the model, in which they are far apart.
struct KeptRows {
  std::vector<std::int64_t> begin;  // by state number, one more than there are states
  std::vector<std::int32_t> next;
  std::vector<double> probability, earned;
  std::vector<std::int32_t> actions;  // -1: the state has no rows, and earns nothing

  bool empty() const { return begin.empty(); }
  SparseRows rows() const { return {begin.data(), next.data(), probability.data()}; }
};

KeptRows keep_rows(const SparseRows& matrix, const RowsOfStates& states,
                   const std::vector<std::int32_t>& actions);

// At most: of a model of this size.
double bytes_of_kept_rows(std::int64_t states, int outcomes_of_row);

}  // namespace redoubt::internal
