#include "io/csv/csv_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "support/require.h"

namespace redoubt::internal::io {
namespace {

struct SampledOutcome {
  std::size_t first = 0;                       // the line that its values come from
  std::map<std::int32_t, double> probability;  // by sample
};
using RowKey = std::tuple<std::int32_t, State, std::int32_t>;  // stage, state, action
using SampledRow = std::map<State, SampledOutcome>;            // by next state

bool same_values(const Transitions& t, std::size_t i, std::size_t j) {
  bool same = t.reward[i] == t.reward[j];
  for (const auto& signal : t.signals) same = same && signal[i] == signal[j];
  return same;
}

std::map<RowKey, SampledRow> rows_of(const std::vector<std::int32_t>& sample,
                                     const Transitions& t) {
  std::map<RowKey, SampledRow> rows;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const RowKey key{t.stage.empty() ? 0 : t.stage[i], t.state[i], t.action[i]};
    const auto [place, added] = rows[key].try_emplace(t.next[i], SampledOutcome{i, {}});
    require(added || same_values(t, i, place->second.first),
            "what (state {}, action {}) earns in state {} differs between samples, must be the "
            "same in all",
            t.state[i], t.action[i], t.next[i]);
    place->second.probability[sample[i]] += t.probability[i];
  }
  return rows;
}

// Sums of each sample; all of them must be one.
std::map<std::int32_t, double> sums_of(const RowKey& key, const SampledRow& row) {
  std::map<std::int32_t, double> sums;
  for (const auto& [next, outcome] : row) {
    for (const auto& [sample, p] : outcome.probability) sums[sample] += p;
  }
  for (const auto& [sample, sum] : sums)
    require(std::abs(sum - 1) <= 1e-9 * static_cast<double>(row.size()),
            "probabilities of (state {}, action {}) in sample {} sum to {}, must sum to 1",
            std::get<1>(key), std::get<2>(key), sample, sum);
  return sums;
}

void add_outcome(const Transitions& from, const RowKey& key, State next,
                 const SampledOutcome& outcome, double count, Transitions& to) {
  if (!from.stage.empty()) to.stage.push_back(std::get<0>(key));
  to.state.push_back(std::get<1>(key));
  to.action.push_back(std::get<2>(key));
  to.next.push_back(next);
  const bool missing = static_cast<double>(outcome.probability.size()) < count;
  double sum = 0, least = missing ? 0 : 1, most = 0;
  for (const auto& [sample, p] : outcome.probability) {
    sum += p;
    least = std::min(least, p);
    most = std::max(most, p);
  }
  to.probability.push_back(sum / count);
  to.lower.push_back(std::min(least, sum / count));
  to.upper.push_back(std::max(most, sum / count));
  to.reward.push_back(from.reward[outcome.first]);
  for (std::size_t k = 0; k < from.signals.size(); ++k)
    to.signals[k].push_back(from.signals[k][outcome.first]);
}

double largest_distance(const SampledRow& row, const std::map<std::int32_t, double>& samples) {
  const auto count = static_cast<double>(samples.size());
  double most = 0;
  for (const auto& [sample, sum] : samples) {
    double distance = 0;
    for (const auto& [next, outcome] : row) {
      double mean = 0;
      for (const auto& [other, p] : outcome.probability) mean += p / count;
      const auto own = outcome.probability.find(sample);
      distance += std::abs((own == outcome.probability.end() ? 0.0 : own->second) - mean) / 2;
    }
    most = std::max(most, distance);
  }
  return most;
}

// Writes the rows of ordinary states, then those of factors.
class Scenarios {
 public:
  Scenarios(const Transitions& transitions, ModelArrays& a)
      : from_(transitions), a_(a), ordinary_(a.states) {}

  void write(const std::map<RowKey, SampledRow>& rows) {
    a_.state_rows = a_.row_outcomes = {0};
    auto row = rows.begin();
    for (State s = 0; s < ordinary_; ++s) {
      for (; row != rows.end() && std::get<1>(row->first) == s; ++row)
        add_row(row->first, row->second);
      a_.state_rows.push_back(static_cast<Row>(a_.action.size()));
    }
    for (const Factor& factor : factors_) add_factor(factor);
    a_.factors = static_cast<State>(factors_.size());
    a_.states += a_.factors;
  }

 private:
  struct Factor {
    const RowKey* key;
    const SampledRow* row;
    std::int32_t sample;
  };

  void add_row(const RowKey& key, const SampledRow& row) {
    const auto samples = sums_of(key, row);
    const double share = 1 / static_cast<double>(samples.size());
    for (const auto& [sample, sum] : samples) {
      factors_.push_back({&key, &row, sample});
      const std::size_t number = ordinary_ + factors_.size() - 1;
      require(number < std::numeric_limits<State>::max(),
              "{} states and samples of their rows, must be fewer", number);
      add_outcome(static_cast<State>(number), share, 0, 1, nullptr);
    }
    end_row(std::get<2>(key));
  }
  void add_factor(const Factor& factor) {
    for (const auto& [next, outcome] : *factor.row) {
      const auto own = outcome.probability.find(factor.sample);
      if (own == outcome.probability.end()) continue;
      add_outcome(next, own->second, own->second, own->second, &outcome);
    }
    end_row(0);
    a_.state_rows.push_back(static_cast<Row>(a_.action.size()));
    if (!a_.state_names.empty())
      a_.state_names.push_back(fmt::format("sample {} of ({}, action {})", factor.sample,
                                           a_.state_names[std::get<1>(*factor.key)],
                                           std::get<2>(*factor.key)));
  }
  // What an outcome earns stands in its first line; null: nothing.
  void add_outcome(State next, double probability, double lower, double upper,
                   const SampledOutcome* earns) {
    a_.next.push_back(next);
    a_.probability.push_back(probability);
    a_.lower.push_back(lower);
    a_.upper.push_back(upper);
    a_.outcome_reward.push_back(earns == nullptr ? 0 : from_.reward[earns->first]);
    for (std::size_t k = 0; k < from_.signals.size(); ++k)
      a_.signals[k].outcome.push_back(earns == nullptr ? 0 : from_.signals[k][earns->first]);
  }
  void end_row(std::int32_t action) {
    a_.action.push_back(action);
    a_.row_outcomes.push_back(static_cast<std::int64_t>(a_.next.size()));
  }

  const Transitions& from_;
  ModelArrays& a_;
  State ordinary_;
  std::vector<Factor> factors_;
};

}  // namespace

void add_scenarios(const std::vector<std::int32_t>& sample, const Transitions& t, ModelArrays& a) {
  require(t.stage.empty(), "posterior scenarios with columns 'idoutcome' and 'step', must be mean");
  Scenarios(t, a).write(rows_of(sample, t));
}

std::vector<double> merge_samples(const std::vector<std::int32_t>& sample, Transitions& t) {
  Transitions merged;
  merged.signals.resize(t.signals.size());
  std::vector<double> radii;
  for (const auto& [key, row] : rows_of(sample, t)) {
    const auto samples = sums_of(key, row);
    for (const auto& [next, outcome] : row)
      add_outcome(t, key, next, outcome, static_cast<double>(samples.size()), merged);
    radii.push_back(std::min(1.0, largest_distance(row, samples)));
  }
  t = std::move(merged);
  return radii;
}

}  // namespace redoubt::internal::io
