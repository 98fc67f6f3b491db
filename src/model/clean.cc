#include "model/clean.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/require.h"
#include "model/row_name.h"
#include "model/tidy.h"

namespace redoubt {
namespace {

bool possible(const ModelArrays& a, std::int64_t i) {
  return a.probability[i] > 0 || (!a.upper.empty() && a.upper[i] > 0);
}

// True when outcome i comes before j by next state, then reward, then signals: outcomes that differ
// in their probability only do not precede each other.
bool precedes(const ModelArrays& a, std::int64_t i, std::int64_t j) {
  if (a.next[i] != a.next[j]) return a.next[i] < a.next[j];
  const auto differ = [&](const std::vector<double>& v) { return !v.empty() && v[i] != v[j]; };
  if (differ(a.outcome_reward)) return a.outcome_reward[i] < a.outcome_reward[j];
  for (const Signal& s : a.signals) {
    if (differ(s.outcome)) return s.outcome[i] < s.outcome[j];
  }
  return false;
}

bool is_clean(const ModelArrays& a) {
  for (std::size_t row = 0; row + 1 < a.row_outcomes.size(); ++row) {
    for (auto i = a.row_outcomes[row]; i < a.row_outcomes[row + 1]; ++i) {
      if (!possible(a, i) || (i > a.row_outcomes[row] && !precedes(a, i - 1, i))) return false;
    }
  }
  return true;
}

// Moves outcome `from` to the place `to` in every array that has one entry for each outcome.
void move_outcome(ModelArrays& out, const ModelArrays& a, std::int64_t from) {
  const auto copy = [from](std::vector<double>& target, const std::vector<double>& source) {
    if (!source.empty()) target.push_back(source[from]);
  };
  out.next.push_back(a.next[from]);
  out.probability.push_back(a.probability[from]);
  copy(out.outcome_reward, a.outcome_reward);
  copy(out.lower, a.lower);
  copy(out.upper, a.upper);
  for (std::size_t s = 0; s < a.signals.size(); ++s)
    copy(out.signals[s].outcome, a.signals[s].outcome);
}

void merge_into(ModelArrays& out, std::int64_t kept, const ModelArrays& a, std::int64_t from) {
  out.probability[kept] += a.probability[from];
  if (a.lower.empty()) return;
  out.lower[kept] = std::min(1.0, out.lower[kept] + a.lower[from]);
  out.upper[kept] = std::min(1.0, out.upper[kept] + a.upper[from]);
}

}  // namespace

void drop_silent_values(ModelArrays& a) {
  const auto drop = [](std::vector<double>& values) {
    if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; })) values.clear();
  };
  drop(a.reward);
  drop(a.outcome_reward);
  for (Signal& s : a.signals) {
    drop(s.row);
    drop(s.outcome);
  }
}

void drop_and_merge_outcomes(ModelArrays& a) {
  if (is_clean(a)) return;
  ModelArrays out;
  out.signals.resize(a.signals.size());
  out.row_outcomes.push_back(0);
  std::vector<std::int64_t> order;
  for (std::size_t row = 0; row + 1 < a.row_outcomes.size(); ++row) {
    order.resize(a.row_outcomes[row + 1] - a.row_outcomes[row]);
    std::iota(order.begin(), order.end(), a.row_outcomes[row]);
    std::erase_if(order, [&](auto i) { return !possible(a, i); });
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return precedes(a, i, j); });
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k > 0 && !precedes(a, order[k - 1], order[k])) {
        merge_into(out, static_cast<std::int64_t>(out.next.size()) - 1, a, order[k]);
      } else {
        move_outcome(out, a, order[k]);
      }
    }
    out.row_outcomes.push_back(static_cast<std::int64_t>(out.next.size()));
  }
  a.row_outcomes = std::move(out.row_outcomes);
  a.next = std::move(out.next);
  a.probability = std::move(out.probability);
  a.outcome_reward = std::move(out.outcome_reward);
  a.lower = std::move(out.lower);
  a.upper = std::move(out.upper);
  for (std::size_t s = 0; s < a.signals.size(); ++s)
    a.signals[s].outcome = std::move(out.signals[s].outcome);
}

void normalise_rows(ModelArrays& a, const Model& names) {
  for (std::size_t row = 0; row + 1 < a.row_outcomes.size(); ++row) {
    const auto begin = a.row_outcomes[row], end = a.row_outcomes[row + 1];
    const auto outcomes = static_cast<double>(end - begin);
    const double sum = row_sum(a.probability.data() + begin, end - begin);
    const double off = std::abs(sum - 1);
    require(off <= 1e-9 * outcomes, "probabilities of {} sum to {}, must sum to 1 within {:g}",
            RowName{names, static_cast<Row>(row)}, sum, 1e-9 * outcomes);
    if (off <= rounding_of_sum(end - begin)) continue;
    for (auto i = begin; i < end; ++i) a.probability[i] /= sum;
  }
}

}  // namespace redoubt
