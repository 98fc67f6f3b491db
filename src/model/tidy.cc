#include "model/tidy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace redoubt {
namespace {

// Rows that are looked at together: few enough for the nearest cache.
Row rows_of_block(std::size_t rows, std::size_t outcomes) {
  return static_cast<Row>(
      std::max<std::size_t>(1, 512 * rows / std::max<std::size_t>(1, outcomes)));
}

// Two loops that no value ends early: compilers make vector instructions of them.

// NaN may pass for positive: the sum of its row shows it.
bool all_positive(const double* probability, std::int64_t count) {
  std::uint64_t signs = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(probability[i]);
    signs |= bits | (bits - 1);  // zero has no sign of its own
  }
  return static_cast<std::int64_t>(signs) >= 0;
}

// Places at which the next state does not increase.
std::int32_t steps_back(const State* next, std::int64_t count) {
  std::int32_t steps = 0;
  for (std::int64_t i = 1; i < count; ++i) steps += next[i] <= next[i - 1];
  return steps;
}

bool block_is_tidy(const ModelArrays& a, Row first, Row last) {
  const auto begin = a.row_outcomes[first], count = a.row_outcomes[last] - begin;
  const State* const next = a.next.data();
  if (!all_positive(a.probability.data() + begin, count)) return false;
  std::int32_t back = steps_back(next + begin, count);
  bool good = true;
  for (Row row = first; row < last; ++row) {
    const auto i = a.row_outcomes[row], end = a.row_outcomes[row + 1];
    if (i == end) return false;
    back -= row > first && next[i] <= next[i - 1];  // from one row to another it may
    const double off = std::abs(row_sum(a.probability.data() + i, end - i) - 1);
    // Where next states increase, the first and the last are enough.
    good &= (next[i] >= 0) & (next[end - 1] < a.states) & (off <= rounding_of_sum(end - i));
  }
  return good && back == 0;
}

}  // namespace

bool is_tidy(const ModelArrays& a) {
  const auto rows = static_cast<Row>(a.action.size());
  const Row step = rows_of_block(a.action.size(), a.next.size());
  for (Row first = 0; first < rows; first += step) {
    if (!block_is_tidy(a, first, std::min(first + step, rows))) return false;
  }
  return true;
}

bool copy_and_check(ModelArrays& a, const OutcomeViews& outcomes) {
  a.next.reserve(outcomes.next.size());
  a.probability.reserve(outcomes.probability.size());
  const auto rows = static_cast<Row>(a.action.size());
  const Row step = rows_of_block(a.action.size(), outcomes.next.size());
  bool tidy = true;
  for (Row first = 0; first < rows; first += step) {
    const Row last = std::min(first + step, rows);
    const auto begin = a.row_outcomes[first], end = a.row_outcomes[last];
    a.next.insert(a.next.end(), outcomes.next.begin() + begin, outcomes.next.begin() + end);
    a.probability.insert(a.probability.end(), outcomes.probability.begin() + begin,
                         outcomes.probability.begin() + end);
    tidy = tidy && block_is_tidy(a, first, last);
  }
  return tidy;
}

std::size_t first_not_finite(const std::vector<double>& values) {
  std::int64_t bad = 0;
  for (const double v : values) bad |= !(std::abs(v) <= std::numeric_limits<double>::max());
  const auto finite = [](double v) { return std::isfinite(v); };
  const auto found =
      bad == 0 ? values.end() : std::find_if_not(values.begin(), values.end(), finite);
  return static_cast<std::size_t>(found - values.begin());
}

}  // namespace redoubt
