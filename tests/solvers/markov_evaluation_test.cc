#include "solvers/gradient/markov_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "redoubt/environments.h"
#include "solvers/gradient/markov_weights.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

std::vector<double> random_weights(const Problem& problem, const MarkovEvaluation& evaluation,
                                   std::uint64_t seed) {
  GradientOptions options;
  options.first_policy = FirstPolicy::random;
  options.seed = seed;
  const MarkovWeights weights(problem, evaluation, options);
  return {weights.weights().begin(), weights.weights().end()};
}

// d total / d weight(stage, state, action) = visits(stage, state) * worth(stage, state, action):
// nature's own change does not count, because its kernels are minimisers.
void expect_gradient(const Problem& problem, std::uint64_t seed) {
  Workers workers(1);
  MarkovEvaluation evaluation(problem, workers, 1e-12, true);
  const std::vector<double> weights = random_weights(problem, evaluation, seed);
  const Model& model = problem.model();
  for (int channel = 0; channel < evaluation.channels(); ++channel) {
    evaluation.run(weights);
    const auto visits = evaluation.visits(weights, channel);
    const std::vector<double> counts(visits.begin(), visits.end());
    double scale = 0;
    for (const double count : counts) scale = std::max(scale, count);
    for (int h = 0; h < evaluation.stages(); ++h) {
      for (State s = 0; s < model.states(); s += 1 + model.states() / 10) {
        for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
          const auto slot = evaluation.slot(h, row);
          evaluation.run(weights);
          const double expected = counts[h * model.states() + s] * evaluation.worth(slot, channel);
          constexpr double kChange = 1e-5;
          std::vector<double> moved = weights;
          moved[slot] += kChange;
          evaluation.run(moved);
          const double above = evaluation.total(channel);
          moved[slot] -= 2 * kChange;
          evaluation.run(moved);
          const double slope = (above - evaluation.total(channel)) / (2 * kChange);
          EXPECT_NEAR(slope, expected, 1e-4 * std::max(1.0, std::abs(expected)))
              << "channel " << channel << ", stage " << h << ", " << model.row_name(row);
        }
      }
    }
  }
}

TEST(MarkovEvaluation, VisitsTimesWorthIsTheGradient) {
  for (const Uncertainty& set :
       {Uncertainty(KL{0.1}), Uncertainty(Chi2{0.2}), Uncertainty(TV{0.07}),
        Uncertainty(TV{0.07, Reach::support}), Uncertainty(Nominal{}), Uncertainty(Interval{})}) {
    testing::RandomOptions options;
    options.uncertainty = set;
    options.random_start = true;
    for (const bool infinite : {false, true}) {
      SCOPED_TRACE(std::string(name(set)) + (infinite ? " infinite" : " finite"));
      options.horizon = infinite ? std::nullopt : std::optional(4);
      options.discount = infinite ? 0.8 : 0.95;
      options.outcome_values = true;
      expect_gradient(testing::random_problem(1, options), 1);
      options.outcome_values = false;
      options.stage_dependent = !infinite;
      options.ragged = options.terminal = true;
      expect_gradient(testing::random_problem(2, options), 2);
      options.stage_dependent = options.ragged = options.terminal = false;
    }
  }
}

TEST(MarkovEvaluation, ManyStatesAreSolvedBySweeps) {
  for (const char* id : {"garnet(states=150,actions=2,successors=4)",
                         "garnet(states=150,actions=2,successors=4,set=tv,radius=0.1)"}) {
    SCOPED_TRACE(id);
    expect_gradient(make(id), 1);
  }
}

TEST(MarkovEvaluation, AWarmStartTakesFewSweeps) {
  const Problem problem = make("river_swim(discount=0.99)");
  Workers workers(1);
  MarkovEvaluation evaluation(problem, workers, 1e-10, false);
  std::vector<double> weights = random_weights(problem, evaluation, 1);
  evaluation.run(weights);
  const double before = evaluation.row_evaluations();
  for (double& weight : weights) weight = 0.99 * weight + 0.005;
  evaluation.run(weights);
  const double rows_of_a_sweep = 2.0 * static_cast<double>(problem.model().rows());
  EXPECT_LE(evaluation.row_evaluations() - before, 3 * rows_of_a_sweep);
}

TEST(Simplex, TheProjectionIsTheNearestPoint) {
  std::mt19937_64 engine(7);
  const auto uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> x(1 + trial % 7);
    for (double& value : x) value = 4 * uniform() - 2;
    std::vector<double> nearest = x;
    project_onto_simplex(nearest);
    double sum = 0;
    for (const double value : nearest) {
      EXPECT_GE(value, 0);
      sum += value;
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    // The nearest point of a convex set sees every other one at an obtuse angle; corners suffice.
    for (std::size_t corner = 0; corner < x.size(); ++corner) {
      double product = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        product += (x[i] - nearest[i]) * ((i == corner ? 1 : 0) - nearest[i]);
      EXPECT_LE(product, 1e-12);
    }
  }
}

}  // namespace
}  // namespace redoubt
