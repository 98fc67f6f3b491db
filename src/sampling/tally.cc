#include "sampling/tally.h"

#include <algorithm>
#include <utility>

namespace redoubt::internal {

Tally::Tally(const SimulatorShape& shape)
    : shape_(shape), rows_(shape.rows()), key_(2 + shape.signals.size()) {}

void Tally::add(Row row, const Sample& sample) {
  key_[0] = sample.next;
  key_[1] = sample.reward + 0.0;  // minus zero is zero
  for (std::size_t s = 0; s < sample.signals.size(); ++s) key_[2 + s] = sample.signals[s] + 0.0;
  ++rows_[row][key_];
}

void Tally::add(const Tally& other) {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    for (const auto& [outcome, count] : other.rows_[row]) rows_[row][outcome] += count;
  }
}

namespace {

using Outcomes = std::map<std::vector<double>, std::int64_t>;

// What nature may choose from in a row that nobody has seen: every state, with the least and with
// the most of every value seen in any row. Reward and signals each face their own nature, so two
// outcomes for each state are enough.
Outcomes anything(const std::vector<Outcomes>& rows, State states, std::size_t values) {
  std::vector<double> least(values, 0.0), most(values, 0.0);
  bool first = true;
  for (const Outcomes& row : rows) {
    for (const auto& [outcome, count] : row) {
      for (std::size_t v = 0; v < values; ++v) {
        least[v] = first ? outcome[1 + v] : std::min(least[v], outcome[1 + v]);
        most[v] = first ? outcome[1 + v] : std::max(most[v], outcome[1 + v]);
      }
      first = false;
    }
  }
  Outcomes out;
  for (State state = 0; state < states; ++state) {
    for (const auto& values_there : {least, most}) {
      std::vector<double> outcome{static_cast<double>(state)};
      outcome.insert(outcome.end(), values_there.begin(), values_there.end());
      out[outcome] = 0;
    }
  }
  return out;
}

// The value that all outcomes of a row share, or zero when they do not.
double shared_value(const Outcomes& row, std::size_t v) {
  const double first = row.begin()->first[1 + v];
  const bool shared = std::all_of(row.begin(), row.end(),
                                  [&](const auto& entry) { return entry.first[1 + v] == first; });
  return shared ? first : 0.0;
}

double value_or_zero(const std::vector<double>& values, std::size_t i) {
  return values.empty() ? 0.0 : values[i];
}

class ArraysWriter {
 public:
  explicit ArraysWriter(const SimulatorShape& shape) : shape_(shape) {
    arrays.states = shape.states;
    arrays.stages = shape.stages;
    arrays.state_rows = shape.state_rows;
    arrays.action = shape.action;
    arrays.state_names = shape.state_names;
    arrays.action_names = shape.action_names;
    arrays.factors = shape.factors;
    for (const std::string& name : shape.signals) arrays.signals.push_back({name, {}, {}});
    arrays.row_outcomes.push_back(0);
    for (std::size_t v = 0; v < shape.known.size(); ++v)
      (v == 0 ? arrays.arrival_reward : arrays.signals[v - 1].arrival) = shape.known[v].arrival;
  }
  // `weights`: of the outcomes, where they are known.
  void add_row(const Outcomes& row, const std::vector<double>& weights) {
    std::int64_t visits_here = 0;
    for (const auto& [outcome, count] : row) visits_here += count;
    visits.push_back(visits_here);
    const auto share = [&](std::size_t i, std::int64_t count) {
      if (!weights.empty()) return weights[i];
      return visits_here > 0 ? static_cast<double>(count) / static_cast<double>(visits_here)
                             : 1.0 / static_cast<double>(row.size());
    };
    std::size_t number = 0;
    std::vector<double> own(1 + arrays.signals.size());
    for (std::size_t v = 0; v < own.size(); ++v) {
      own[v] = shape_.known.empty() ? shared_value(row, v)
                                    : value_or_zero(shape_.known[v].row, visits.size() - 1);
      (v == 0 ? arrays.reward : arrays.signals[v - 1].row).push_back(own[v]);
    }
    for (const auto& [outcome, count] : row) {
      arrays.next.push_back(static_cast<State>(outcome[0]));
      arrays.probability.push_back(share(number++, count));
      counts.push_back(count);
      for (std::size_t v = 0; v < own.size(); ++v) {
        (v == 0 ? arrays.outcome_reward : arrays.signals[v - 1].outcome)
            .push_back(beyond_row(outcome, v, own[v]));
      }
    }
    arrays.row_outcomes.push_back(static_cast<std::int64_t>(arrays.next.size()));
  }

  ModelArrays arrays;
  std::vector<std::int64_t> visits, counts;

 private:
  // What an outcome earns beyond its row: to the bit what its arrival gives, where that is all.
  double beyond_row(const std::vector<double>& outcome, std::size_t v, double own) const {
    const double value = outcome[1 + v];
    if (shape_.known.empty()) return value - own;
    const double arrival =
        value_or_zero(shape_.known[v].arrival, static_cast<std::size_t>(outcome[0]));
    return own + arrival == value ? arrival : value - own;
  }

  const SimulatorShape& shape_;
};

// A row that nobody asks for. What it leads to is listed in the order of the weights.
Outcomes mixture(const SimulatorShape& shape, Row row) {
  Outcomes outcomes;
  for (const SimulatorShape::Outcome& outcome : shape.outcomes[row]) {
    std::vector<double> key{static_cast<double>(outcome.next)};
    key.insert(key.end(), outcome.values.begin(), outcome.values.end());
    outcomes[key] = 0;
  }
  return outcomes;
}

}  // namespace

Estimate Tally::finish(bool ignore_unseen) const {
  ArraysWriter writer(shape_);
  std::vector<Row> unvisited;
  const State states = ignore_unseen ? 1 : shape_.states - shape_.factors;
  const Outcomes unknown = anything(rows_, states, 1 + shape_.signals.size());
  for (Row row = 0; row < shape_.rows(); ++row) {
    if (!shape_.asks(row)) {
      writer.add_row(mixture(shape_, row), shape_.weights[row]);
      continue;
    }
    const bool seen = !rows_[row].empty();
    writer.add_row(seen ? rows_[row] : unknown, {});
    if (!seen) unvisited.push_back(row);
  }
  return {Model(std::move(writer.arrays)),
          shape_.terms,
          std::move(writer.visits),
          std::move(writer.counts),
          std::move(unvisited),
          0,
          0};
}

}  // namespace redoubt::internal
