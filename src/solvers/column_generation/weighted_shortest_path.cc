#include "solvers/column_generation/weighted_shortest_path.h"

#include <algorithm>
#include <limits>

#include "evaluation/evaluation.h"
#include "redoubt/goal.h"
#include "solvers/column_generation/weighted_sum.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {
namespace {

constexpr double kLeastWeight = 1e-6;  // of the largest

// The same model with a weighted sum of its channels as the only signal.
Model with_sum(const Model& model, const std::string& name, std::span<const Channel> channels,
               std::span<const double> weights) {
  ModelArrays arrays = model.arrays();
  arrays.signals = {weighted_signal(model, name, channels, weights)};
  return Model(std::move(arrays));
}

Terms asking_for(const Problem& problem, Objective objective) {
  Terms terms = problem.terms();
  terms.constraints.clear();
  terms.objective = std::move(objective);
  return terms;
}

}  // namespace

WeightedValueIteration::Best weighted_shortest_path(const Problem& problem,
                                                    std::span<const Channel> channels,
                                                    std::span<const double> weights,
                                                    Workers& workers) {
  WeightedValueIteration::Best best;
  best.weights.assign(weights.begin(), weights.end());
  const double least = kLeastWeight * *std::max_element(weights.begin(), weights.end());
  for (double& weight : best.weights)
    if (!problem.traps()) weight = std::max(weight, least);
  Model model = with_sum(problem.model(), "sum", channels, best.weights);
  Terms terms = asking_for(problem, {.signal = "sum"});
  const Problem sum = problem.traps() ? problem.earning(std::move(model), std::move(terms))
                                      : Problem(std::move(model), std::move(terms));
  ValueIteration found = value_iteration(sum, Channel{}, workers);
  best.bound = found.at(problem.start()) + found.error;
  best.row_evaluations = found.row_evaluations;
  best.policy = std::move(found.policy);
  const EvaluationPass pass = evaluate(problem, best.policy, workers);
  best.row_evaluations += pass.row_evaluations;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    double total = 0;
    for (std::size_t i = 0; i < problem.start().states.size(); ++i)
      total += problem.start().probability[i] * *pass.at_first_stage(problem.model(), best.policy,
                                                                     static_cast<int>(c),
                                                                     problem.start().states[i]);
    best.totals.push_back(total);
  }
  return best;
}

double most_of_weighted(const Problem& problem, std::span<const Channel> channels,
                        std::span<const double> weights, Workers& workers) {
  const Model& model = problem.model();
  std::vector<double> losses;
  for (const double weight : weights) losses.push_back(-weight);
  ModelArrays arrays = with_sum(model, "loss", channels, losses).arrays();
  Label end{"end"};
  for (State s = 0; s < model.states(); ++s)
    if (model.row_begin(0, s) == model.row_end(0, s)) end.states.push_back(s);
  arrays.labels = {std::move(end)};
  try {
    // Until then: who never ends loses without end in a channel that may have no weight here.
    const Problem alone(
        Model(std::move(arrays)),
        asking_for(problem, {.signal = total_until("loss", "end"), .minimise = true}));
    const ValueIteration found = value_iteration(alone, Channel{}, workers);
    return found.at(alone.start()) + found.error;
  } catch (const Stopped&) {
    throw;
  } catch (const Error&) {  // nature could keep an episode where this sum earns nothing
    return std::numeric_limits<double>::infinity();
  }
}

}  // namespace redoubt::internal
