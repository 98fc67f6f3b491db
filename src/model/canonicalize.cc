#include "model/canonicalize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/row_name.h"
#include "model/validate.h"
#include "support/require.h"

namespace redoubt::internal {
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

bool is_plain(const ModelArrays& a) {
  return a.outcome_reward.empty() && a.upper.empty() &&
         std::all_of(a.signals.begin(), a.signals.end(),
                     [](const Signal& s) { return s.outcome.empty(); });
}

// Where nothing comes with an outcome but its probability, as in a matrix, rows are cleaned in
// place, through a copy of the row.
class PlainRows {
 public:
  explicit PlainRows(ModelArrays& arrays) : a_(arrays) {}

  void clean() {
    std::int64_t begin = 0, to = 0;
    for (std::size_t row = 0; row + 1 < a_.row_outcomes.size(); ++row) {
      const std::int64_t end = a_.row_outcomes[row + 1];
      sort(begin, end - begin);
      to = write(to);
      a_.row_outcomes[row + 1] = to;
      begin = end;
    }
    a_.next.resize(to);
    a_.probability.resize(to);
    a_.next.shrink_to_fit();
    a_.probability.shrink_to_fit();
  }

 private:
  // By next state, those with the same in the order in which they came.
  void sort(std::int64_t begin, std::int64_t count) {
    const State* const next = a_.next.data() + begin;
    const double* const probability = a_.probability.data() + begin;
    next_.resize(count);
    probability_.resize(count);
    constexpr std::int64_t kFew = 40;
    if (count > kFew) {
      order_.resize(count);
      std::iota(order_.begin(), order_.end(), 0);
      std::stable_sort(order_.begin(), order_.end(),
                       [&](auto i, auto j) { return next[i] < next[j]; });
      for (std::int64_t i = 0; i < count; ++i) {
        next_[i] = next[order_[i]];
        probability_[i] = probability[order_[i]];
      }
      return;
    }
    // Each goes behind those before it. Counting them is quicker than sorting so few: nothing is
    // decided, and compilers make vector instructions of it.
    for (std::int32_t i = 0; i < count; ++i) {
      std::int32_t place = 0;
      for (std::int32_t j = 0; j < count; ++j)
        place += (next[j] < next[i]) | ((next[j] == next[i]) & (j < i));
      next_[place] = next[i];
      probability_[place] = probability[i];
    }
  }

  // Puts what is possible of the copied row behind the rows before it, and returns its end.
  std::int64_t write(std::int64_t to) {
    const std::int64_t begin = to;
    for (std::size_t i = 0; i < next_.size(); ++i) {
      if (!(probability_[i] > 0)) continue;
      if (to > begin && a_.next[to - 1] == next_[i]) {
        a_.probability[to - 1] += probability_[i];
      } else {
        a_.next[to] = next_[i];
        a_.probability[to++] = probability_[i];
      }
    }
    return to;
  }

  ModelArrays& a_;
  std::vector<State> next_;
  std::vector<double> probability_;
  std::vector<std::int64_t> order_;
};

void merge_into(ModelArrays& out, std::int64_t kept, const ModelArrays& a, std::int64_t from) {
  out.probability[kept] += a.probability[from];
  if (a.lower.empty()) return;
  out.lower[kept] = std::min(1.0, out.lower[kept] + a.lower[from]);
  out.upper[kept] = std::min(1.0, out.upper[kept] + a.upper[from]);
}

// Moves outcome `from` to the end of every array that has one entry for each outcome.
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

// Appends those outcomes that are possible, in this order, and merges equal ones.
void append(ModelArrays& out, const ModelArrays& a, const std::vector<std::int64_t>& order) {
  std::int64_t last = -1;
  for (const std::int64_t i : order) {
    if (!possible(a, i)) continue;
    if (last >= 0 && !precedes(a, last, i)) {
      merge_into(out, static_cast<std::int64_t>(out.next.size()) - 1, a, i);
    } else {
      move_outcome(out, a, i);
    }
    last = i;
  }
}

}  // namespace

void earn_by_arrival(ModelArrays& a) {
  const auto fill = [&](const std::vector<double>& arrival, std::vector<double>& outcome) {
    if (arrival.empty() || !outcome.empty()) return;
    outcome.reserve(a.next.size());
    for (const State next : a.next) outcome.push_back(arrival[next]);
  };
  fill(a.arrival_reward, a.outcome_reward);
  for (Signal& s : a.signals) fill(s.arrival, s.outcome);
}

void drop_silent_values(ModelArrays& a) {
  const auto silent = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
  };
  const auto drop = [&](std::vector<double>& values) {
    if (silent(values)) std::vector<double>().swap(values);  // gives the memory back, too
  };
  // Outcomes that earn nothing although arrivals in their states do must go on saying so.
  const auto drop_outcomes = [&](std::vector<double>& outcome, std::vector<double>& arrival) {
    drop(arrival);
    bool earns = false;
    for (std::size_t i = 0; !earns && !arrival.empty() && i < a.next.size(); ++i)
      earns = arrival[a.next[i]] != 0 && possible(a, static_cast<std::int64_t>(i));
    if (!earns) drop(outcome);
  };
  drop(a.reward);
  drop_outcomes(a.outcome_reward, a.arrival_reward);
  for (Signal& s : a.signals) {
    drop(s.row);
    drop_outcomes(s.outcome, s.arrival);
  }
}

void drop_and_merge_outcomes(ModelArrays& a) {
  if (is_clean(a)) return;
  if (is_plain(a)) return PlainRows(a).clean();
  ModelArrays out;
  out.signals.resize(a.signals.size());
  out.row_outcomes.push_back(0);
  std::vector<std::int64_t> order;
  for (std::size_t row = 0; row + 1 < a.row_outcomes.size(); ++row) {
    order.resize(a.row_outcomes[row + 1] - a.row_outcomes[row]);
    std::iota(order.begin(), order.end(), a.row_outcomes[row]);
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return precedes(a, i, j); });
    append(out, a, order);
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

}  // namespace redoubt::internal
