#include <algorithm>
#include <utility>

#include "bellman/row_evaluator.h"
#include "model/set_traits.h"
#include "redoubt/simulator.h"
#include "support/checksum.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

std::uint64_t identity_of(const ModelArrays& a) {
  Checksum sum;
  sum.add_all(a.row_outcomes);
  sum.add_all(a.next);
  sum.add_all(a.probability);
  sum.add_all(a.reward);
  sum.add_all(a.outcome_reward);
  for (const Signal& signal : a.signals) {
    sum.add_all(signal.row);
    sum.add_all(signal.outcome);
  }
  return sum.value();
}

// Rows that mix factors are known.
void declare_weights(const Model& model, SimulatorShape& shape) {
  shape.factors = model.factors();
  shape.weights.resize(model.rows());
  for (int stage = 0; stage < model.stages(); ++stage) {
    const Row begin = model.row_begin(stage, 0), end = model.row_end(stage, model.ordinary() - 1);
    for (Row row = begin; row < end; ++row)
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        shape.weights[row].push_back(model.arrays().probability[i]);
  }
}

// Every factor may lead to every ordinary state.
void declare_landings(const Model& model, SimulatorShape& shape) {
  for (Row row = 0; row < model.rows(); ++row) {
    if (!shape.asks(row)) continue;
    auto& outcomes = shape.outcomes[row];
    for (State next = 0; next < model.ordinary(); ++next) {
      if (model.lists(row, next)) continue;
      outcomes.push_back({next, {}});
      for (int s = -1; s < model.signals(); ++s)
        outcomes.back().values.push_back(model.arrival_value(s, next));
    }
    std::sort(outcomes.begin(), outcomes.end(),
              [](const auto& a, const auto& b) { return a.next < b.next; });
  }
}

// Of a problem with factors, the model in which they are factors.
Model sampled_model(const Problem& problem) {
  Draft given = problem.given();
  return given.model.factors() > 0 ? std::move(given.model) : problem.model();
}

SimulatorShape shape_of(const Problem& problem) {
  const Model model = sampled_model(problem);
  const ModelArrays& a = model.arrays();
  SimulatorShape shape;
  shape.states = a.states;
  shape.stages = a.stages;
  shape.state_rows = a.state_rows;
  shape.action = a.action;
  for (const Signal& signal : a.signals) shape.signals.push_back(signal.name);
  shape.state_names = a.state_names;
  shape.action_names = a.action_names;
  shape.terms = model.factors() > 0 ? problem.given().terms : problem.terms();
  shape.identity = identity_of(a);
  shape.known.push_back({a.reward, a.arrival_reward});
  for (const Signal& signal : a.signals) shape.known.push_back({signal.row, signal.arrival});
  if (model.factors() > 0) declare_weights(model, shape);
  shape.outcomes.resize(model.rows());
  for (Row row = 0; row < model.rows(); ++row) {
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
      SimulatorShape::Outcome& outcome = shape.outcomes[row].emplace_back();
      outcome.next = a.next[i];
      for (int s = -1; s < model.signals(); ++s)
        outcome.values.push_back(model.value(s, row) + model.outcome_value(s, i));
    }
  }
  if (model.factors() > 0 && lands_anywhere(shape.terms.uncertainty))
    declare_landings(model, shape);
  return shape;
}

class ProblemSimulator : public Simulator {
 public:
  explicit ProblemSimulator(const Problem& problem)
      : model_(sampled_model(problem)), shape_(shape_of(problem)) {
    below_.reserve(model_.outcomes());
    for (Row row = 0; row < model_.rows(); ++row) {
      double sum = 0;
      for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
        below_.push_back(sum += model_.arrays().probability[i]);
    }
  }

  const SimulatorShape& shape() const override { return shape_; }
  bool is_concurrent() const override { return true; }

  void answer(const Next& next, const Receive& receive) override {
    Query query;
    Sample sample;
    sample.signals.resize(model_.signals());
    while (next(query)) {
      const auto outcome = draw(query.row, static_cast<double>(query.seed) * 0x1p-53);
      sample.next = model_.arrays().next[outcome];
      sample.reward = model_.value(-1, query.row) + model_.outcome_value(-1, outcome);
      for (int s = 0; s < model_.signals(); ++s)
        sample.signals[s] = model_.value(s, query.row) + model_.outcome_value(s, outcome);
      receive(query, sample);
    }
  }

 private:
  // The outcome whose share of [0, 1) holds u. Sums may end just below one: the last outcome takes
  // the rest.
  std::int64_t draw(Row row, double u) const {
    const auto begin = below_.begin() + model_.outcome_begin(row);
    const auto last = below_.begin() + model_.outcome_end(row) - 1;
    return std::upper_bound(begin, last, u) - below_.begin();
  }

  Model model_;
  SimulatorShape shape_;
  std::vector<double> below_;  // for each outcome: probability of it and those before it in its row
};

class FunctionSimulator : public Simulator {
 public:
  FunctionSimulator(SimulatorShape shape, std::function<Sample(const Query&)> function)
      : shape_(std::move(shape)), function_(std::move(function)) {
    shape_.check();
  }
  const SimulatorShape& shape() const override { return shape_; }
  void answer(const Next& next, const Receive& receive) override {
    Query query;
    while (next(query)) receive(query, function_(query));
  }

 private:
  SimulatorShape shape_;
  std::function<Sample(const Query&)> function_;
};

}  // namespace

std::unique_ptr<Simulator> problem_simulator(const Problem& problem) {
  return std::make_unique<ProblemSimulator>(problem);
}

std::unique_ptr<Simulator> function_simulator(SimulatorShape shape,
                                              std::function<Sample(const Query&)> function) {
  return std::make_unique<FunctionSimulator>(std::move(shape), std::move(function));
}

}  // namespace redoubt
