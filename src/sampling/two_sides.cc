#include "sampling/two_sides.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "model/select_rows.h"
#include "model/set_traits.h"
#include "sampling/optimistic_factors.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

using Known = RowCounts::Value::Known;

constexpr std::string_view kNeverSeen = "was never seen";

// In which sense more of a quantity is good: 1 or -1; 0 where nobody asks.
std::vector<double> senses_of(const SimulatorShape& shape, const Terms& terms) {
  std::vector<double> senses(shape.signals.size() + 1, 0.0);
  const auto ask = [&](const std::string& signal, double sign) {
    const auto found = std::find(shape.signals.begin(), shape.signals.end(), signal);
    if (found == shape.signals.end()) return;  // Problem says so
    double& sense = senses[1 + (found - shape.signals.begin())];
    sense = sense == -sign ? 2 : sign;  // 2: both
  };
  if (!terms.objective.chosen()) senses[0] = 1;
  if (!terms.objective.signal.empty())
    ask(terms.objective.signal, terms.objective.minimise ? -1 : 1);
  for (const Constraint& constraint : terms.constraints)
    ask(constraint.signal, constraint.sense == Sense::at_least ? 1 : -1);
  return senses;
}

// Rows of a model, each with what it earns from the better or the worse side.
class SideWriter {
 public:
  SideWriter(const KnownRows& known, const Terms& terms, bool optimistic)
      : known_(known),
        shape_(known.counts.shape()),
        senses_(senses_of(shape_, terms)),
        optimistic_(optimistic) {
    arrays.states = shape_.states;
    arrays.stages = shape_.stages;
    arrays.factors = shape_.factors;
    arrays.state_rows.push_back(0);
    arrays.row_outcomes.push_back(0);
    for (const std::string& name : shape_.signals) arrays.signals.push_back({name, {}, {}});
    for (std::size_t q = 0; q < shape_.known.size(); ++q)
      (q == 0 ? arrays.arrival_reward : arrays.signals[q - 1].arrival) = shape_.known[q].arrival;
  }

  void add_row(Row row, std::int32_t action, const std::vector<double>& probability) {
    const auto& outcomes = known_.counts.outcomes(row);
    arrays.action.push_back(action);
    for (std::size_t q = 0; q < senses_.size(); ++q) {
      std::vector<double> values;
      for (const RowCounts::Outcome& outcome : outcomes) values.push_back(value(row, outcome, q));
      const double own = own_value(row, q, values);
      (q == 0 ? arrays.reward : arrays.signals[q - 1].row).push_back(own);
      auto& to = q == 0 ? arrays.outcome_reward : arrays.signals[q - 1].outcome;
      for (std::size_t i = 0; i < outcomes.size(); ++i)
        to.push_back(beyond_row(q, outcomes[i].next, values[i], own));
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      arrays.next.push_back(outcomes[i].next);
      arrays.probability.push_back(probability[i]);
    }
    arrays.row_outcomes.push_back(static_cast<std::int64_t>(arrays.next.size()));
  }
  void close_state() { arrays.state_rows.push_back(static_cast<Row>(arrays.action.size())); }

  ModelArrays arrays;

 private:
  // What is known of a value, or the end of its range on this side.
  double value(Row row, const RowCounts::Outcome& outcome, std::size_t q) const {
    const RowCounts::Value& known = outcome.values[q];
    const double sense = senses_[q];
    if (known.known == Known::fixed || sense == 0) return known.value;
    if (known.known == Known::nothing && shape_.shared_values)
      if (const auto shared = shared_value(row, q)) return *shared;
    return end_of_range(row, q, fmt::format("state {}", outcome.next),
                        known.known == Known::varies ? "varies from draw to draw" : kNeverSeen);
  }
  double end_of_range(Row row, std::size_t q, std::string_view next, std::string_view why) const {
    const auto name =
        q == 0 ? std::string("the reward") : fmt::format("signal '{}'", shape_.signals[q - 1]);
    const bool declared = q < shape_.ranges.size() && shape_.ranges[q];
    require(declared, "{} of row {} on the way to {} {}, its range must be declared", name, row,
            next, why);
    require(senses_[q] != 2,
            "{} of row {} on the way to {} {} and is bounded from both sides, must be from one",
            name, row, next, why);
    return (senses_[q] > 0) == optimistic_ ? shape_.ranges[q]->most : shape_.ranges[q]->least;
  }

  // What all outcomes of a row that were seen earn; none where they differ.
  std::optional<double> shared_value(Row row, std::size_t q) const {
    std::optional<double> shared;
    for (const RowCounts::Outcome& outcome : known_.counts.outcomes(row)) {
      const RowCounts::Value& known = outcome.values[q];
      if (known.known == Known::nothing) continue;
      if (known.known == Known::varies || known.value != shared.value_or(known.value)) return {};
      shared = known.value;
    }
    return shared;
  }

  double own_value(Row row, std::size_t q, const std::vector<double>& values) const {
    if (!shape_.known.empty()) {
      const auto& rows = shape_.known[q].row;
      return rows.empty() ? 0.0 : rows[row];
    }
    const bool shared =
        std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
    if (shared) return values[0];
    const bool lands = known_.missing[row] > 0 && senses_[q] != 0;
    return lands ? end_of_range(row, q, "another state", kNeverSeen) : 0.0;
  }

  // To the bit what its arrival gives, where that is all.
  double beyond_row(std::size_t q, State next, double value, double own) const {
    const auto* arrivals = shape_.known.empty() ? nullptr : &shape_.known[q].arrival;
    const double arrival = arrivals == nullptr || arrivals->empty() ? 0.0 : (*arrivals)[next];
    return own + arrival == value ? arrival : value - own;
  }

  const KnownRows& known_;
  const SimulatorShape& shape_;
  std::vector<double> senses_;
  bool optimistic_;
};

template <class Visit>
void for_each_row(const SimulatorShape& shape, Visit visit) {
  for (std::size_t slot = 0; slot + 1 < shape.state_rows.size(); ++slot)
    visit(shape.state_rows[slot], shape.state_rows[slot + 1]);
}

}  // namespace

KnownRows::KnownRows(const RowCounts& rows, double evidence, std::vector<double> mass_missing)
    : counts(rows),
      intervals(rows.shape().rows()),
      missing(std::move(mass_missing)),
      evidence_(evidence),
      samples_(intervals.size(), -1) {
  const SimulatorShape& shape = rows.shape();
  missing.resize(intervals.size(), 0.0);
  for (Row row = 0; row < shape.rows(); ++row) {
    if (shape.asks(row)) continue;
    for (const double weight : shape.weights[row]) intervals[row].push_back({weight, weight});
  }
  update();
}

void KnownRows::update() {
  const SimulatorShape& shape = counts.shape();
  for (Row row = 0; row < shape.rows(); ++row) {
    if (!shape.asks(row) || counts.samples(row) == samples_[row]) continue;
    intervals[row] = row_intervals(counts, row, evidence_, missing[row]);
    samples_[row] = counts.samples(row);
  }
}

Terms pessimistic_terms(const SimulatorShape& shape, Terms terms) {
  terms.uncertainty = composed(terms.uncertainty);
  const auto ordinary = static_cast<std::size_t>(shape.states - shape.factors);
  bool listed = shape.factors > 0 && lands_anywhere(terms.uncertainty);
  for (Row row = 0; listed && row < shape.rows(); ++row)
    listed = !shape.asks(row) || shape.outcomes[row].size() == ordinary;
  if (listed) keep_to_support(terms.uncertainty);
  return terms;
}

Problem pessimistic_problem(const KnownRows& known, Terms terms) {
  const SimulatorShape& shape = known.counts.shape();
  SideWriter writer(known, terms, terms.helpful_nature);
  for_each_row(shape, [&](Row begin, Row end) {
    for (Row row = begin; row < end; ++row) {
      const auto& outcomes = known.counts.outcomes(row);
      const auto samples = static_cast<double>(known.counts.samples(row));
      std::vector<double> shares;
      if (!shape.asks(row)) shares = shape.weights[row];
      for (std::size_t i = shares.size(); i < outcomes.size(); ++i)
        shares.push_back(samples > 0 ? static_cast<double>(outcomes[i].count) / samples
                                     : 1.0 / static_cast<double>(outcomes.size()));
      writer.add_row(row, shape.action[row], shares);
      for (const Range& interval : known.intervals[row]) {
        writer.arrays.lower.push_back(interval.low);
        writer.arrays.upper.push_back(interval.high);
      }
    }
    writer.close_state();
  });
  writer.arrays.state_names = shape.state_names;
  writer.arrays.action_names = shape.action_names;
  return {Model(std::move(writer.arrays)), pessimistic_terms(shape, std::move(terms))};
}

OptimisticProblem optimistic_problem(const KnownRows& known, Terms terms) {
  if (known.counts.shape().factors > 0) return optimistic_factors(known, terms);
  SideWriter writer(known, terms, true);
  std::vector<Row> origin;
  for_each_row(known.counts.shape(), [&](Row begin, Row end) {
    std::int32_t action = 0;
    for (Row row = begin; row < end; ++row) {
      for (const std::vector<double>& corner : row_corners(known.intervals[row])) {
        writer.add_row(row, action++, corner);
        origin.push_back(row);
      }
    }
    writer.close_state();
  });
  select_radii(terms, origin);
  return {{Model(std::move(writer.arrays)), std::move(terms)}, std::move(origin)};
}

std::vector<char> reachable_states(const RowCounts& counts, const Terms& terms) {
  const SimulatorShape& shape = counts.shape();
  const bool anywhere = lands_anywhere(terms.uncertainty) || shape.outcomes.empty();
  std::vector<char> reached(shape.states, anywhere);
  std::deque<State> open;
  const auto reach = [&](State state) {
    if (reached[state]) return;
    reached[state] = true;
    open.push_back(state);
  };
  for (std::size_t i = 0; i < terms.start.states.size(); ++i)
    if (terms.start.probability[i] > 0) reach(terms.start.states[i]);
  for (; !open.empty(); open.pop_front()) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      const auto slot = static_cast<std::size_t>(stage) * shape.states + open.front();
      for (Row row = shape.state_rows[slot]; row < shape.state_rows[slot + 1]; ++row)
        for (const auto& outcome : counts.outcomes(row)) reach(outcome.next);
    }
  }
  return reached;
}

}  // namespace redoubt::internal
