#include "solvers/value_iteration/kept_rows.h"

#include <algorithm>

namespace redoubt::internal {

KeptRows keep_rows(const SparseRows& matrix, const RowsOfStates& states,
                   const std::vector<std::int32_t>& actions) {
  KeptRows kept;
  kept.actions = actions;
  kept.begin.reserve(actions.size() + 1);
  kept.earned.reserve(actions.size());
  const auto row_of = [&](std::size_t state) { return states.begin[state] + actions[state]; };
  std::int64_t outcomes = 0;
  for (std::size_t s = 0; s < actions.size(); ++s) {
    kept.begin.push_back(outcomes);
    if (actions[s] >= 0)
      outcomes += matrix.row_outcomes[row_of(s) + 1] - matrix.row_outcomes[row_of(s)];
  }
  kept.begin.push_back(outcomes);
  kept.next.resize(outcomes);
  kept.probability.resize(outcomes);
  for (std::size_t s = 0; s < actions.size(); ++s) {
    kept.earned.push_back(actions[s] < 0 ? 0 : states.earned[row_of(s)]);
    const auto to = kept.begin[s], count = kept.begin[s + 1] - to;
    if (count == 0) continue;
    const auto from = matrix.row_outcomes[row_of(s)];
    std::copy_n(matrix.next + from, count, kept.next.begin() + to);
    std::copy_n(matrix.probability + from, count, kept.probability.begin() + to);
  }
  return kept;
}

double bytes_of_kept_rows(std::int64_t states, int outcomes_of_row) {
  return (8 + 8 + 4 + 12.0 * outcomes_of_row) * static_cast<double>(states);
}

}  // namespace redoubt::internal
