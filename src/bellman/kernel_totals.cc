#include "bellman/kernel_totals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bellman/connected_totals.h"
#include "sets/row.h"

namespace redoubt::internal {

void KernelTotals::find_components() {
  std::vector<std::int64_t> begin = {0};
  std::vector<std::int32_t> to;
  begin.reserve(rows_.state_rows.size());
  to.reserve(rows_.next.size());
  for (State s = 0; s < rows_.states(); ++s) {
    for (Row row = rows_.state_rows[s]; row < rows_.state_rows[s + 1]; ++row) {
      if (!may_use(row)) continue;
      for (auto k = rows_.begin[row]; k < rows_.begin[row + 1]; ++k)
        if (rows_.probability[k] > 0 && rows_.next[k] != s) to.push_back(rows_.next[k]);
    }
    begin.push_back(static_cast<std::int64_t>(to.size()));
  }
  components_ = strong_components(begin, to);
}

void KernelTotals::solve(std::vector<double>& values, std::vector<std::int32_t>& actions) {
  constexpr int kBetweenChecks = 4096;
  for (const double value : rows_.earned) unit_ = std::max(unit_, std::abs(value));
  find_components();
  ConnectedTotals connected(rows_, use_, sign_, accuracy_, workers_);
  for (int c = 0; c < components_.count(); ++c) {
    if (c % kBetweenChecks == 0) workers_.check();
    const std::span<const State> members = components_.members(c);
    if (members.size() == 1)
      solve_alone(members.front(), values, actions);
    else
      connected.solve(members, values, actions);
  }
}

// Whoever takes a row that leads back takes it until it leaves.
void KernelTotals::solve_alone(State s, std::vector<double>& values,
                               std::vector<std::int32_t>& actions) {
  double best = -std::numeric_limits<double>::infinity();
  std::int32_t action = -1;
  const Row first = rows_.state_rows[s], last = rows_.state_rows[s + 1];
  for (Row row = first; row < last; ++row) {
    if (!may_use(row)) continue;
    double leaves = 0, sum = rows_.earned[row];
    for (auto k = rows_.begin[row]; k < rows_.begin[row + 1]; ++k) {
      if (rows_.next[k] == s) continue;
      leaves += rows_.probability[k];
      sum += rows_.probability[k] * values[rows_.next[k]];
    }
    if (leaves <= 0) continue;  // it never ends
    const double worth = sign_ * sum / leaves;
    // Of rows that differ by rounding only the first is taken.
    if (action < 0 || worth > best + kSameWorth * std::max(unit_, std::abs(best)))
      action = static_cast<std::int32_t>(row - first);
    best = std::max(best, worth);
  }
  values[s] = action < 0 ? 0 : sign_ * best;
  actions[s] = action;
}

}  // namespace redoubt::internal
