#include <algorithm>
#include <cmath>

#include "redoubt/learn.h"
#include "sampling/two_sides.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

double value_of(const Model& model, Row row, std::int64_t outcome, int signal) {
  return model.value(signal, row) + model.outcome_value(signal, outcome);
}

template <class Visit>
void for_each_seen(const Estimate& estimate, Visit visit) {
  const Model& model = estimate.model;
  for (Row row = 0; row < model.rows(); ++row)
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
      if (estimate.counts[i] > 0) visit(row, i);
}

// A simulator that could have given the data, and knows no more than they show.
SimulatorShape shape_of_data(const Estimate& estimate) {
  const ModelArrays& a = estimate.model.arrays();
  SimulatorShape shape;
  shape.states = a.states;
  shape.stages = a.stages;
  shape.state_rows = a.state_rows;
  shape.action = a.action;
  shape.state_names = a.state_names;
  shape.action_names = a.action_names;
  for (const Signal& signal : a.signals) shape.signals.push_back(signal.name);
  shape.shared_values = true;
  shape.ranges.resize(a.signals.size() + 1);
  for_each_seen(estimate, [&](Row row, std::int64_t outcome) {
    for (std::size_t q = 0; q < shape.ranges.size(); ++q) {
      const double value = value_of(estimate.model, row, outcome, static_cast<int>(q) - 1);
      auto& range = shape.ranges[q];
      if (!range) range = {value, value};
      range->least = std::min(range->least, value);
      range->most = std::max(range->most, value);
    }
  });
  return shape;
}

}  // namespace

Problem composed_problem(const Estimate& estimate, Terms terms, double confidence) {
  require(confidence > 0 && confidence < 1, "confidence = {}, must be in (0, 1)", confidence);
  const SimulatorShape shape = shape_of_data(estimate);
  RowCounts counts(shape);
  Sample sample;
  sample.signals.resize(shape.signals.size());
  for_each_seen(estimate, [&](Row row, std::int64_t outcome) {
    sample.next = estimate.model.arrays().next[outcome];
    sample.reward = value_of(estimate.model, row, outcome, -1);
    for (std::size_t s = 0; s < sample.signals.size(); ++s)
      sample.signals[s] = value_of(estimate.model, row, outcome, static_cast<int>(s));
    counts.add(row, sample, estimate.counts[outcome]);
  });
  const auto intervals = static_cast<double>(intervals_of_row(shape.states) * shape.rows());
  const double evidence = std::log(std::max(intervals, 1.0) / (1 - confidence));
  return pessimistic_problem(KnownRows(counts, evidence), std::move(terms));
}

}  // namespace redoubt
