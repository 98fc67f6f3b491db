#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "evaluation/taken_rows.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// Writes the model of a problem that is made from another one, state by state: each row with the
// weight that a policy takes it with and a radius of its own. Values are asked for by the number of
// a signal, -1 for the reward.
class TakenModel {
 public:
  // `bounded`: outcomes have lower and upper bounds.
  TakenModel(const Model& from, bool bounded) : bounded_(bounded) {
    arrays_.state_rows = arrays_.row_outcomes = {0};
    for (const Signal& signal : from.arrays().signals)
      arrays_.signals.push_back({signal.name, {}, {}});
    taken_.begin = {0};
  }

  template <class Value>
  void begin_row(double weight, double radius, const Value& value) {
    const auto row = static_cast<Row>(arrays_.action.size());
    taken_.rows.push_back(row);
    taken_.weight.push_back(weight);
    arrays_.action.push_back(static_cast<std::int32_t>(row - arrays_.state_rows.back()));
    radii_.push_back(radius);
    for (int k = -1; k < signals(); ++k) of_rows(k).push_back(value(k));
  }
  template <class Value>
  void add_outcome(State next, double probability, double lower, double upper, const Value& value) {
    arrays_.next.push_back(next);
    arrays_.probability.push_back(probability);
    for (int k = -1; k < signals(); ++k) of_outcomes(k).push_back(value(k));
    if (!bounded_) return;
    arrays_.lower.push_back(lower);
    arrays_.upper.push_back(upper);
  }
  void end_row() { arrays_.row_outcomes.push_back(static_cast<std::int64_t>(arrays_.next.size())); }
  void end_state() {
    arrays_.state_rows.push_back(static_cast<Row>(arrays_.action.size()));
    taken_.begin.push_back(static_cast<std::int64_t>(taken_.rows.size()));
  }

  // What the problem asks for on this model: no constraints, and the radii of its rows.
  Terms terms_like(const Problem& problem) const {
    Terms terms = problem.terms();
    terms.constraints.clear();
    std::visit(
        [&](auto& set) {
          if constexpr (requires { set.radius; }) set.radius = Radius(radii_);
        },
        terms.uncertainty);
    return terms;
  }
  Model take_model() {
    arrays_.states = static_cast<State>(arrays_.state_rows.size()) - 1;
    return Model(std::move(arrays_));
  }
  TakenRows take_rows() { return std::move(taken_); }

 private:
  int signals() const { return static_cast<int>(arrays_.signals.size()); }
  std::vector<double>& of_rows(int k) { return k < 0 ? arrays_.reward : arrays_.signals[k].row; }
  std::vector<double>& of_outcomes(int k) {
    return k < 0 ? arrays_.outcome_reward : arrays_.signals[k].outcome;
  }

  bool bounded_;
  ModelArrays arrays_;
  TakenRows taken_;
  std::vector<double> radii_;
};

}  // namespace redoubt::internal
