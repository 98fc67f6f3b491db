#pragma once

#include <vector>

#include "redoubt/model.h"

namespace redoubt::internal {

// Writes the arrays of a model row by row and state by state. What is earned is asked for by the
// number of a signal, -1 for the reward: value(k).
class ModelWriter {
 public:
  // With signals of these names. `bounded`: outcomes have lower and upper bounds.
  ModelWriter(const std::vector<Signal>& named, bool bounded) : bounded_(bounded) {
    arrays.state_rows = arrays.row_outcomes = {0};
    for (const Signal& signal : named) arrays.signals.push_back({signal.name, {}, {}});
  }

  template <class Value>
  void begin_row(std::int32_t action, const Value& value) {
    arrays.action.push_back(action);
    arrays.reward.push_back(value(-1));
    for (int k = 0; k < signals(); ++k) arrays.signals[k].row.push_back(value(k));
  }
  template <class Value>
  void add_outcome(State next, double probability, double lower, double upper, const Value& value) {
    arrays.next.push_back(next);
    arrays.probability.push_back(probability);
    arrays.outcome_reward.push_back(value(-1));
    for (int k = 0; k < signals(); ++k) arrays.signals[k].outcome.push_back(value(k));
    if (!bounded_) return;
    arrays.lower.push_back(lower);
    arrays.upper.push_back(upper);
  }
  // As likely as outcome number i of another model. Where that one has no bounds, any probability
  // is within them.
  template <class Value>
  void copy_outcome(State next, const Model& from, std::int64_t i, const Value& value) {
    const ModelArrays& a = from.arrays();
    add_outcome(next, a.probability[i], a.lower.empty() ? 0 : a.lower[i],
                a.upper.empty() ? 1 : a.upper[i], value);
  }
  void end_row() { arrays.row_outcomes.push_back(static_cast<std::int64_t>(arrays.next.size())); }
  void end_state() { arrays.state_rows.push_back(static_cast<Row>(arrays.action.size())); }

  ModelArrays arrays;

 private:
  int signals() const { return static_cast<int>(arrays.signals.size()); }

  bool bounded_;
};

}  // namespace redoubt::internal
