#include "solvers/frontier/search/lagrangian.h"

#include <algorithm>
#include <cmath>

#include "bellman/over_states.h"
#include "numerics/exact_sum.h"
#include "parallel/collectives.h"
#include "policy/stage_builder.h"

namespace redoubt::internal {
namespace {

constexpr double kLargestStep = 3;  // of the logarithm of a weight: kernels may have zeros

}  // namespace

LagrangianPolicies::LagrangianPolicies(const Problem& problem, std::span<const Channel> channels,
                                       Workers& workers, Exchange& exchange)
    : problem_(problem), channels_(channels), group_(workers), exchange_(exchange) {
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
}

LagrangianPolicies::Found LagrangianPolicies::find(const std::vector<Weights>& lanes,
                                                   bool keep_policies) {
  const Model& model = problem_.model();
  const int size = static_cast<int>(lanes.size()), horizon = problem_.horizon();
  lanes_ = lanes;
  count_ = static_cast<int>(channels_.size()) * size;
  padded_ = padded_lanes(count_);
  here_.assign(static_cast<std::size_t>(model.states()) * padded_, 0.0);
  Found found;
  if (keep_policies) {
    found.policies.resize(size);
    found.spread.resize(horizon);
    for (Policy& policy : found.policies) {
      policy.states = model.own_states();
      policy.stages.resize(horizon);
    }
  }
  std::vector<std::int32_t> own(model.own_states());
  for (int stage = horizon; stage-- > 0;) {
    group_.check_together();
    step(stage);
    if (!keep_policies) continue;
    for (int lane = 0; lane < size; ++lane) {
      for (std::size_t s = 0; s < own.size(); ++s) own[s] = actions_[s * size + lane];
      found.policies[lane].stages[stage] = pure_stage(own);
    }
    found.spread[stage] = spread_of(stage);
  }
  const Start& start = problem_.start();
  found.totals.assign(size, std::vector<double>(channels_.size(), 0.0));
  for (int lane = 0; lane < size; ++lane) {
    for (std::size_t j = 0; j < channels_.size(); ++j) {
      for (std::size_t i = 0; i < start.states.size(); ++i)
        found.totals[lane][j] +=
            start.probability[i] * here_[std::int64_t{start.states[i]} * padded_ + j * size + lane];
    }
  }
  return found;
}

double LagrangianPolicies::evaluations() const {
  double sum = 0;
  for (const Worker& worker : workers_) sum += worker.rows.evaluations();
  return sum;
}

void LagrangianPolicies::step(int stage) {
  const Model& model = problem_.model();
  after_.swap(here_);
  here_.assign(after_.size(), 0.0);
  actions_.assign(static_cast<std::size_t>(model.own_states()) * lanes_.size(), -1);
  if (lands_anywhere(problem_)) find_floor();
  const double work = 5.0 * static_cast<double>(model.outcomes()) / model.stages() * padded_;
  exchange_.sweep(
      group_, {work}, {here_.data(), padded_, 1, 0, padded_},
      [&](State state, std::int64_t, int worker) { choose(stage, state, workers_[worker]); });
}

// What the worst landing is worth in each lane. A row's own outcomes count, too: mass that moves to
// the worst of them has landed there.
void LagrangianPolicies::find_floor() {
  const auto size = lanes_.size();
  floor_.assign(padded_, 0.0);
  for (std::size_t j = 0; j < channels_.size(); ++j) {
    min_over_states(
        group_, problem_.model().states(),
        [&](State s) { return after_.data() + std::int64_t{s} * padded_ + j * size; },
        [&](State s) { return arrival_worth(problem_, channels_[j], s); },
        {floor_.data() + j * size, size});
  }
}

const double* const* LagrangianPolicies::next_of(Row row, Worker& worker) const {
  const Model& model = problem_.model();
  worker.next.clear();
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
    worker.next.push_back(after_.data() + std::int64_t{model.arrays().next[i]} * padded_);
  return worker.next.data();
}

void LagrangianPolicies::choose(int stage, State state, Worker& worker) {
  const Model& model = problem_.model();
  const auto size = lanes_.size();
  const Row first = model.row_begin(stage, state), last = model.row_end(stage, state);
  std::int32_t* action = actions_.data() + model.own_place(state) * size;
  double* values = here_.data() + std::int64_t{state} * padded_;
  worker.result.resize(padded_);
  for (Row row = first; row < last; ++row) {
    worker.rows.worst(row, channels_, count_, next_of(row, worker),
                      floor_.empty() ? nullptr : floor_.data(), worker.result.data());
    for (std::size_t lane = 0; lane < size; ++lane) {
      double gain = 0;
      for (std::size_t j = 0; j < channels_.size(); ++j)
        gain += lanes_[lane][j] * (worker.result[j * size + lane] - values[j * size + lane]);
      if (action[lane] >= 0 && gain <= 0) continue;
      action[lane] = static_cast<std::int32_t>(row - first);
      for (std::size_t j = 0; j < channels_.size(); ++j)
        values[j * size + lane] = worker.result[j * size + lane];
    }
  }
}

// Of the first lane, by the kernels against its actions.
std::vector<double> LagrangianPolicies::spread_of(int stage) {
  const Model& model = problem_.model();
  const auto size = lanes_.size(), constraints = channels_.size() - 1;
  const double unit = ExactSum::unit_for(1);
  struct Sum {
    ExactSum variance, states;
  };
  std::vector<Sum> own(constraints);
  Worker& worker = workers_.front();
  worker.result.resize(padded_);
  worker.minimiser.resize(static_cast<std::size_t>(model.most_outcomes() + 1) * padded_);
  for (State place = 0; place < model.own_states(); ++place) {
    group_.check();
    const std::int32_t action = actions_[place * size];
    if (action < 0) continue;
    const Row row = model.row_begin(stage, model.own(place)) + action;
    worker.rows.worst(row, channels_, count_, next_of(row, worker),
                      floor_.empty() ? nullptr : floor_.data(), worker.result.data(),
                      worker.minimiser.data());
    for (std::size_t c = 0; c < constraints; ++c) {
      own[c].variance.add(step_spread(row, c, worker), unit);
      own[c].states.add(1, unit);
    }
  }
  std::vector<Sum> all(constraints);
  const std::vector<Sum> parts = all_gather<Sum>(group_.ranks(), own);
  for (std::size_t rank = 0; rank < parts.size(); rank += constraints) {
    for (std::size_t c = 0; c < constraints; ++c) {
      all[c].variance.add(parts[rank + c].variance);
      all[c].states.add(parts[rank + c].states);
    }
  }
  std::vector<double> spread;
  for (const Sum& sum : all)
    spread.push_back(sum.variance.value(unit) / std::max(1.0, sum.states.value(unit)));
  return spread;
}

// The variance of the logarithm of the ratio of two kernels, under the mean of both.
double LagrangianPolicies::step_spread(Row row, std::size_t constraint,
                                       const Worker& worker) const {
  const Model& model = problem_.model();
  const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
  double mass = 0, mean = 0, square = 0;
  for (std::int64_t i = 0; i < outcomes; ++i) {
    const double* kernel = worker.minimiser.data() + i * padded_;
    const double reward = kernel[0], utility = kernel[(constraint + 1) * lanes_.size()];
    if (reward <= 0 && utility <= 0) continue;
    const double step = std::clamp(std::log(std::max(utility, 1e-300) / std::max(reward, 1e-300)),
                                   -kLargestStep, kLargestStep);
    const double weight = 0.5 * (reward + utility);
    mass += weight;
    mean += weight * step;
    square += weight * step * step;
  }
  if (mass <= 0) return 0;
  mean /= mass;
  return std::max(0.0, square / mass - mean * mean);
}

}  // namespace redoubt::internal
