// Factors that rows share, from samples of rows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/set_traits.h"
#include "redoubt/estimate.h"
#include "redoubt/learn.h"
#include "sampling/factor_intervals.h"
#include "sampling/feature_rows.h"
#include "sampling/mixture_counts.h"
#include "sampling/two_sides.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

using Shares = std::vector<std::vector<double>>;  // [factor][state]

// The features with other factors, and bounds where there are some: then they list every state.
class FactorWriter {
 public:
  explicit FactorWriter(const Model& features) : features_(features) {
    arrays_ = features.arrays();
    arrays_.next.clear();
    arrays_.probability.clear();
    arrays_.lower.clear();
    arrays_.upper.clear();
    arrays_.row_outcomes.assign(1, 0);
    arrays_.outcome_reward.clear();  // arrivals say what is earned
    for (Signal& signal : arrays_.signals) signal.outcome.clear();
  }

  void add_stage(const Shares& shares, const FactorIntervals& intervals) {
    const int stage = stage_++;
    for (State s = 0; s < features_.ordinary(); ++s)
      for (Row row = features_.row_begin(stage, s); row < features_.row_end(stage, s); ++row)
        add_mixture(row, !intervals.empty());
    for (State k = 0; k < features_.factors(); ++k) {
      for (State s = 0; s < features_.ordinary(); ++s) {
        if (intervals.empty() && shares[k][s] == 0) continue;
        add(s, shares[k][s]);
        if (!intervals.empty()) add_bounds(intervals[k][s]);
      }
      close_row();
    }
  }

  Model take() { return Model(std::move(arrays_)); }

 private:
  void add_mixture(Row row, bool bounded) {
    for (auto i = features_.outcome_begin(row); i < features_.outcome_end(row); ++i) {
      const double weight = features_.arrays().probability[i];
      add(features_.arrays().next[i], weight);
      if (bounded) add_bounds({weight, weight});
    }
    close_row();
  }
  void add(State next, double probability) {
    arrays_.next.push_back(next);
    arrays_.probability.push_back(probability);
  }
  void add_bounds(const Range& range) {
    arrays_.lower.push_back(range.low);
    arrays_.upper.push_back(range.high);
  }
  void close_row() {
    arrays_.row_outcomes.push_back(static_cast<std::int64_t>(arrays_.next.size()));
  }

  const Model& features_;
  int stage_ = 0;
  ModelArrays arrays_;
};

// Of rows, what was drawn; of factors, what rows drew that take them alone.
void count_draws(const Estimate& rows, const std::vector<std::vector<MixtureCounts>>& stages,
                 Estimate& found) {
  const Model& model = found.model;
  found.visits.assign(model.rows(), 0);
  found.counts.assign(model.outcomes(), 0);
  for (int stage = 0; stage < model.stages(); ++stage) {
    for (const MixtureCounts& mixture : stages[stage]) {
      if (mixture.weights.size() > 1) continue;
      const Row row = model.row_begin(stage, model.ordinary() + mixture.weights[0].factor);
      found.visits[row] = mixture.draws;
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
        const auto seen = mixture.counts.find(model.arrays().next[i]);
        if (seen != mixture.counts.end()) found.counts[i] = seen->second;
      }
    }
  }
  const Model& from = rows.model;
  for (int stage = 0; stage < from.stages(); ++stage) {
    const int own = model.stages() == 1 ? 0 : stage;
    for (State s = 0; s < from.ordinary(); ++s)
      for (Row row = from.row_begin(stage, s); row < from.row_end(stage, s); ++row)
        if (rows.visits[row] > 0)
          found.visits[feature_row(model, own, s, from.arrays().action[row])] += rows.visits[row];
  }
}

}  // namespace

Estimate estimate_factors(const Estimate& rows, const Model& features) {
  const auto stages = pool(rows, features);
  FactorWriter writer(features);
  for (const auto& mixtures : stages) {
    const State rank = rank_of(mixtures, features.factors());
    require(rank == features.factors(),
            "samples of rows whose features have rank {}, must have rank {}, the number of "
            "factors: they do not tell the factors apart",
            rank, features.factors());
    writer.add_stage(most_likely_factors(mixtures, features.factors(), features.ordinary()), {});
  }
  Estimate found{writer.take(), rows.terms, {}, {}, {}, rows.queries, rows.reused};
  count_draws(rows, stages, found);
  return found;
}

Problem composed_factors(const Estimate& rows, const Model& features, Terms terms,
                         double confidence) {
  require(confidence > 0 && confidence < 1, "confidence = {}, must be in (0, 1)", confidence);
  const auto stages = pool(rows, features);
  const State factors = features.factors(), states = features.ordinary();
  const double events = static_cast<double>(stages.size()) * static_cast<double>(factors) *
                        static_cast<double>(states);
  const double evidence = std::log(events / (1 - confidence));
  FactorWriter writer(features);
  for (const auto& mixtures : stages) {
    Shares likely = most_likely_factors(mixtures, factors, states);
    const FactorIntervals intervals = factor_intervals(mixtures, likely, evidence);
    for (State k = 0; k < factors; ++k) keep_within(intervals[k], likely[k]);
    writer.add_stage(likely, intervals);
  }
  terms.uncertainty = composed(terms.uncertainty);
  if (lands_anywhere(terms.uncertainty)) keep_to_support(terms.uncertainty);  // all are listed
  return {writer.take(), std::move(terms)};
}

}  // namespace redoubt
