#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/set_traits.h"
#include "redoubt/learn.h"
#include "sampling/two_sides.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr double kPartOfLandings = 0.25;  // of delta

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

// Whether total variation may take the place of outcomes that were never seen: it is what it moves
// anyway, or nothing moves, and nobody asks for more than expected totals of the data's columns.
bool may_land(const SimulatorShape& shape, const Terms& terms) {
  const TV* tv = std::get_if<TV>(&terms.uncertainty);
  if (!std::holds_alternative<Nominal>(terms.uncertainty) &&
      (tv == nullptr || tv->reach != Reach::anywhere || tv->scope != Scope::row))
    return false;
  const auto is_column = [&](const std::string& name) {
    return std::find(shape.signals.begin(), shape.signals.end(), name) != shape.signals.end();
  };
  return (terms.objective.signal.empty() || is_column(terms.objective.signal)) &&
         std::all_of(terms.constraints.begin(), terms.constraints.end(),
                     [&](const Constraint& c) { return !c.probability && is_column(c.signal); });
}

// Each row with the outcomes that it showed, and how much mass all others together may have at
// most; or with all states, where an interval for each of the others says more.
struct Landings {
  std::vector<std::vector<SimulatorShape::Outcome>> outcomes;
  std::vector<double> missing;

  Landings(const Estimate& estimate, double of_intervals, double of_missing) {
    const Model& model = estimate.model;
    for (Row row = 0; row < model.rows(); ++row) {
      const std::int64_t samples = estimate.visits[row];
      const auto& next = model.arrays().next;
      std::vector<State> listed(next.begin() + model.outcome_begin(row),
                                next.begin() + model.outcome_end(row));
      std::sort(listed.begin(), listed.end());
      listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
      if (samples == 0) listed = {0};
      double mass = missing_mass(listed.size(), model.states(), samples, of_missing);
      const auto others = static_cast<double>(model.states()) - static_cast<double>(listed.size());
      if (samples > 0 && mass >= others * coin_interval(0, samples, of_intervals).high) {
        mass = 0;
        listed.resize(model.states());
        std::iota(listed.begin(), listed.end(), 0);
      }
      for (auto& list = outcomes.emplace_back(); const State state : listed)
        list.push_back({state, {}});
      missing.push_back(mass);
    }
  }
};

// Total variation around the distribution of what was seen, as far as mass may be missing there,
// and then as far as the user's set goes.
TV with_landings(const Uncertainty& set, std::vector<double> missing) {
  for (std::size_t row = 0; row < missing.size(); ++row)
    missing[row] = std::min(1.0, missing[row] + radius_of(set, static_cast<Row>(row)));
  return {Radius(std::move(missing)), Reach::anywhere};
}

}  // namespace

Problem composed_problem(const Estimate& estimate, Terms terms, double confidence) {
  require(confidence > 0 && confidence < 1, "confidence = {}, must be in (0, 1)", confidence);
  if (estimate.model.factors() > 0)
    return composed_factors(estimate, estimate.model, std::move(terms), confidence);
  SimulatorShape shape = shape_of_data(estimate);
  const bool lands = may_land(shape, terms);
  // What is missing is one number for each row, of the order of the others' squares, so that a part
  // of delta does more there.
  const double part = lands ? kPartOfLandings : 0;
  const auto evidence_of = [&](std::int64_t of_row, double share) {
    const auto events = static_cast<double>(std::max<std::int64_t>(of_row * shape.rows(), 1));
    return std::log(events / ((1 - confidence) * share));
  };
  const double evidence = evidence_of(intervals_of_row(shape.states), 1 - part);
  std::vector<double> missing;
  if (lands) {
    Landings landings(estimate, evidence, evidence_of(1, part));
    shape.outcomes = std::move(landings.outcomes);
    missing = std::move(landings.missing);
    terms.uncertainty = with_landings(terms.uncertainty, missing);
  }
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
  return pessimistic_problem(KnownRows(counts, evidence, std::move(missing)), std::move(terms));
}

}  // namespace redoubt
