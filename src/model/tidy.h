#pragma once

#include "redoubt/model.h"

namespace redoubt {

// True when every outcome keeps every rule and nothing is left to clean: known next states that
// increase within each row, positive probabilities, rows that sum to one up to rounding. The usual
// model is like that, and one pass through its outcomes shows it; where it is not, slower passes
// say what is wrong, or mend it. The arrays have the right sizes.
bool is_tidy(const ModelArrays& arrays);

// Copies the outcomes into the arrays, which have none yet, and says the same of them. Done block
// by block, what has just been copied is still in the nearest cache when it is looked at.
bool copy_and_check(ModelArrays& arrays, const OutcomeViews& outcomes);

// The sum of a row's probabilities. Several partial sums: an addition need not wait for the last.
inline double row_sum(const double* probability, std::int64_t outcomes) {
  double a = 0, b = 0, c = 0, d = 0, rest = 0;
  std::int64_t i = 0;
  for (; i + 4 <= outcomes; i += 4) {
    a += probability[i];
    b += probability[i + 1];
    c += probability[i + 2];
    d += probability[i + 3];
  }
  for (; i < outcomes; ++i) rest += probability[i];
  return ((a + b) + (c + d)) + rest;
}

// How far a sum of this many probabilities may be from one by rounding alone.
inline double rounding_of_sum(std::int64_t outcomes) {
  return 4e-16 * static_cast<double>(outcomes);
}

// The place of the first value that is not finite, or the number of values.
std::size_t first_not_finite(const std::vector<double>& values);

}  // namespace redoubt
