#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "redoubt/model.h"

namespace redoubt::internal {

// Copies the views into the arrays, except those that look at the arrays themselves, and returns
// true when everything keeps every rule and nothing is left to canonicalize: known next states that
// increase within each row, positive probabilities, rows that sum to one up to rounding, actions
// that increase within each state, finite values. The usual model is like that, and one pass
// through its arrays shows it; where it is not, slower passes say what is wrong, or mend it. Sizes
// are right, and offsets never decrease.
bool copy_and_check(ModelArrays& arrays, const ModelViews& views);

// The sum of a row's probabilities. Several partial sums: an addition need not wait for the last.
inline double row_sum(const double* probability, std::int64_t outcomes) {
  double a = 0, b = 0, c = 0, d = 0, rest = 0;
  const double* const end = probability + outcomes;
  for (; end - probability >= 4; probability += 4) {
    a += probability[0];
    b += probability[1];
    c += probability[2];
    d += probability[3];
  }
  for (; probability < end; ++probability) rest += *probability;
  return ((a + b) + (c + d)) + rest;
}

// How far a sum of this many probabilities may be from one by rounding alone.
inline double rounding_of_sum(std::int64_t outcomes) {
  return 4e-16 * static_cast<double>(outcomes);
}

// The largest difference of an entry from the one before it; -1 where some entry is negative or
// smaller than the one before it.
template <class Offset>
std::int64_t largest_step(std::span<const Offset> offsets) {
  using Bits = std::make_unsigned_t<Offset>;  // differences of any two entries are defined
  Offset most = 0, signs = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const auto step =
        static_cast<Offset>(static_cast<Bits>(offsets[i]) - static_cast<Bits>(offsets[i - 1]));
    most = std::max(most, step);
    signs |= step | offsets[i];
  }
  return signs < 0 ? -1 : most;
}

// The place of the first value that is not finite, or the number of values.
std::size_t first_not_finite(std::span<const double> values);

}  // namespace redoubt::internal
