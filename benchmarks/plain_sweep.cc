#include "plain_sweep.h"

#include <algorithm>
#include <limits>

namespace redoubt::bench {

using namespace internal;

PlainSweep::PlainSweep(const Problem& problem)
    : model_(problem.model()),
      rows_(problem),
      next_(model_.states(), 1.0),
      values_(model_.states()),
      pointers_(model_.most_outcomes()) {}

void PlainSweep::operator()() {
  const Channel channel;
  double result[kLaneBlock];
  for (State state = 0; state < model_.states(); ++state) {
    double best = -std::numeric_limits<double>::infinity();
    for (Row row = model_.row_begin(0, state); row < model_.row_end(0, state); ++row) {
      const auto begin = model_.outcome_begin(row);
      for (auto i = begin; i < model_.outcome_end(row); ++i) {
        double* buffer = rows_.buffer(static_cast<int>(i - begin), 1);
        std::fill_n(buffer, kLaneBlock, next_[model_.arrays().next[i]]);
        pointers_[i - begin] = buffer;
      }
      rows_.worst(row, {&channel, 1}, 1, pointers_.data(), nullptr, result);
      best = std::max(best, result[0]);
    }
    values_[state] = best;
  }
  next_.swap(values_);
}

}  // namespace redoubt::bench
