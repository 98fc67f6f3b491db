#include "solvers/column_generation/weighted_value_iteration.h"

#include <algorithm>
#include <cmath>

#include "bellman/steps.h"
#include "evaluation/chain.h"
#include "evaluation/evaluation.h"
#include "evaluation/small_chain.h"
#include "policy/stage_builder.h"
#include "solvers/column_generation/weighted_shortest_path.h"
#include "solvers/value_iteration/best_rows.h"

namespace redoubt::internal {
namespace {

constexpr double kExpected = 4;  // policies that are sought: what progress is measured by

}  // namespace

WeightedValueIteration::WeightedValueIteration(const Problem& problem,
                                               std::span<const Channel> channels, Workers& workers,
                                               Stopwatch& watch)
    : problem_(problem),
      channels_(channels),
      workers_(workers),
      watch_(watch),
      exchange_(problem.model(), workers.ranks()),
      stride_(1 + static_cast<std::int64_t>(channels.size())) {
  const Model& model = problem.model();
  expected_.reserve(model.rows() * channels.size());
  for (Row row = 0; row < model.rows(); ++row) {
    for (const Channel& channel : channels) {
      double value = model.value(channel.signal, row);
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        value += model.arrays().probability[i] * model.outcome_value(channel.signal, i);
      expected_.push_back(channel.sign * value);
    }
  }
}

WeightedValueIteration::Best WeightedValueIteration::find(std::span<const double> weights,
                                                          double tolerance) {
  ++found_;
  if (problem_.improper()) {
    ask(0);
    Best best = weighted_shortest_path(problem_, channels_, weights, workers_);
    evaluations_ += best.row_evaluations;
    return best;
  }
  weigh(weights);
  Best best = problem_.infinite() ? for_ever(weights, tolerance) : over_stages();
  best.weights.assign(weights.begin(), weights.end());
  return best;
}

void WeightedValueIteration::weigh(std::span<const double> weights) {
  weighted_.assign(problem_.model().rows(), 0.0);
  const double* expected = expected_.data();
  for (double& value : weighted_) {
    for (const double weight : weights) value += weight * *expected++;
  }
}

WeightedValueIteration::Best WeightedValueIteration::over_stages() {
  const Model& model = problem_.model();
  Best best;
  best.policy.states = model.own_states();
  best.policy.stages.resize(problem_.horizon());
  here_.assign(model.states() * stride_, 0.0);
  for (int stage = problem_.horizon(); stage-- > 0;) {
    ask(1 - (stage + 1.0) / problem_.horizon());
    improve(stage);
    best.policy.stages[stage] = pure_stage(actions_);
  }
  for (std::size_t c = 0; c < channels_.size(); ++c)
    best.totals.push_back(at_start(here_, stride_, static_cast<int>(c) + 1));
  best.bound = at_start(here_, stride_, 0);
  return best;
}

// Modified policy iteration. After a sweep that chooses actions, the optimum lies above its values
// by no more than the largest change, for ever after, and the policy's own values by no less than
// the smallest.
WeightedValueIteration::Best WeightedValueIteration::for_ever(std::span<const double> weights,
                                                              double tolerance) {
  constexpr double kShare = 0.05;  // of the bracket, that following the policy leaves
  const Model& model = problem_.model();
  const double discount = contraction(problem_, workers_), rest = discount / (1 - discount);
  const auto channels = static_cast<std::int64_t>(channels_.size());
  std::vector<double> here(model.states(), 0.0), better;
  for (std::int64_t s = 0; !first_.empty() && s < model.states(); ++s) {
    for (std::int64_t c = 0; c < channels; ++c) here[s] += weights[c] * first_[s * channels + c];
  }
  BestRows rows(problem_, weighted_, workers_, exchange_);
  TakenRows taken;
  Chain chain;
  SmallChain small(problem_, workers_.ranks());
  Best best;
  for (;;) {
    ask(0);
    Residual change;  // since the last step
    change.add(better.data(), here.data(), static_cast<std::int64_t>(better.size()));
    add_over_ranks(workers_.ranks(), change);
    const Residual residual =
        rows.step(0, here, better, actions_, better.empty() ? nullptr : &change);
    here.swap(better);
    const Bracket found = bracket(residual, discount);
    best.bound = at_start(here, 1, 0) + found.high;
    // Rows that are worth the same but for rounding take turns.
    const double size = std::max({rows.unit(), std::abs(residual.least), std::abs(residual.most)});
    const double enough = std::max(tolerance, 4 * kSameWorth * rest * size);
    if (found.width() <= enough) break;
    take_rows(model, actions_, taken);
    find_nominal_chain(model, weighted_, taken, chain);
    follow_chain(
        chain, problem_, discount, workers_, exchange_,
        [&](double) { return std::max(0.5 * enough, kShare * found.width()); }, small, here);
  }
  evaluations_ += rows.evaluations();
  best.policy = pure_policy(actions_);
  EvaluationPass pass = evaluate(problem_, best.policy, workers_);
  const std::vector<double>& values = pass.values.front();  // [channel][state]
  evaluations_ += workers_.ranks().rank() == 0 ? pass.row_evaluations : 0;
  const Start& start = problem_.start();
  for (std::int64_t c = 0; c < channels; ++c) {
    best.totals.push_back(0);
    for (std::size_t i = 0; i < start.states.size(); ++i)
      best.totals.back() +=
          start.probability[i] * values[c * std::int64_t{model.states()} + start.states[i]];
  }
  if (first_.empty()) {
    first_.resize(values.size());
    for (std::int64_t s = 0; s < model.states(); ++s) {
      for (std::int64_t c = 0; c < channels; ++c)
        first_[s * channels + c] = values[c * model.states() + s];
    }
  }
  return best;
}

// How many policies there will be is not known: every one brings the end nearer.
void WeightedValueIteration::ask(double done) const {
  const double found = found_ - 1 + done;
  if (watch_.stop(found / (found + kExpected))) throw Stopped("stopped before there was an answer");
}

double WeightedValueIteration::work() const {
  return 2.0 * static_cast<double>(problem_.model().outcomes()) / problem_.model().stages();
}

double WeightedValueIteration::at_start(const std::vector<double>& values, std::int64_t stride,
                                        int lane) const {
  double sum = 0;
  const Start& start = problem_.start();
  for (std::size_t i = 0; i < start.states.size(); ++i)
    sum += start.probability[i] * values[start.states[i] * stride + lane];
  return sum;
}

double WeightedValueIteration::value_of(Row row, const double* next) const {
  const ModelArrays& arrays = problem_.model().arrays();
  double sum = 0;
  for (auto i = arrays.row_outcomes[row]; i < arrays.row_outcomes[row + 1]; ++i)
    sum += arrays.probability[i] * next[arrays.next[i] * stride_];
  return weighted_[row] + problem_.discount() * sum;
}

// The best action of each state, and the totals that it leads to.
void WeightedValueIteration::improve(int stage) {
  const Model& model = problem_.model();
  const ModelArrays& arrays = model.arrays();
  next_.swap(here_);
  here_.assign(next_.size(), 0.0);
  actions_.assign(model.own_states(), -1);
  exchange_.sweep(workers_, {work()}, layer(), [&](State state, std::int64_t, int) {
    const Row first = model.row_begin(stage, state), last = model.row_end(stage, state);
    if (first == last) return;
    Row best = first;
    double most = value_of(first, next_.data());
    for (Row row = first + 1; row < last; ++row) {
      const double value = value_of(row, next_.data());
      if (value > most) most = value, best = row;
    }
    double* here = here_.data() + state * stride_;
    here[0] = most;
    actions_[model.own_place(state)] = static_cast<std::int32_t>(best - first);
    for (std::int64_t c = 1; c < stride_; ++c) {
      double sum = 0;
      for (auto i = arrays.row_outcomes[best]; i < arrays.row_outcomes[best + 1]; ++i)
        sum += arrays.probability[i] * next_[arrays.next[i] * stride_ + c];
      here[c] = expected_[best * (stride_ - 1) + c - 1] + problem_.discount() * sum;
    }
  });
  evaluations_ += static_cast<double>(model.rows()) / model.stages();
}

}  // namespace redoubt::internal
