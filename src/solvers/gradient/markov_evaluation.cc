#include "solvers/gradient/markov_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bellman/steps.h"
#include "model/set_traits.h"

namespace redoubt::internal {
MarkovEvaluation::MarkovEvaluation(const Problem& problem, Workers& workers, double tolerance,
                                   bool with_visits)
    : problem_(&problem),
      group_(&workers),
      body_([this](std::int64_t begin, std::int64_t end, int worker) {
        sweep_states(begin, end, workers_[worker]);
      }),
      channels_(channels_of(problem)),
      stages_(problem.infinite() ? 1 : problem.horizon()),
      tolerance_(tolerance),
      chains_(problem, workers, channels()) {
  const Model& model = problem.model();
  const bool same_rows = model.stages() == 1;  // otherwise a row is of one stage only
  stage_slots_ = same_rows ? model.rows() : 0;
  stage_kernel_ = same_rows ? model.rows() + model.outcomes() : 0;
  slots_ = same_rows ? stages_ * model.rows() : model.rows();
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
  const std::size_t layer = static_cast<std::size_t>(model.states()) * channels();
  worth_.assign(slots_ * channels(), 0.0);
  if (with_visits || problem.infinite()) {
    kernel_size_ = (same_rows ? stages_ : 1) * (model.rows() + model.outcomes());
    kernel_.assign(kernel_size_ * channels(), 0.0);
    for (Row row = 0; row < model.rows(); ++row)
      row_kernels_.push_back(model.outcome_begin(row) + row);
  }
  values_.assign(layer * (problem.infinite() ? 1 : stages_ + 1), 0.0);
  visits_.assign(static_cast<std::size_t>(model.states()) * (stages_ + 1), 0.0);
  totals_.assign(channels(), 0.0);
  if (workers_.front().rows.needs_floor()) {
    floor_.assign(channels(), 0.0);
    landing_.assign(static_cast<std::size_t>(channels()) * stages_, 0);
  }
  if (!problem.infinite()) return;
  base_.assign(layer, 0.0);
  correction_.assign(layer, 0.0);
  most_sweeps_ = 2 * stages_until_negligible(problem, tolerance, workers);
}

MarkovEvaluation::Worker::Worker(const Problem& problem) : rows(problem) {
  if (shares_radius(problem)) states.emplace(problem);
}

double MarkovEvaluation::row_evaluations() const {
  double sum = evaluations_before_;
  for (const Worker& worker : workers_)
    sum += worker.rows.evaluations() + (worker.states ? worker.states->evaluations() : 0);
  return sum;
}

// In an infinite horizon, worst cases and kernels follow from the values that they belong to.
void MarkovEvaluation::visit(Archive& archive) {
  double evaluations = row_evaluations();
  std::int64_t begun = begun_ ? 1 : 0;
  archive.visit("values", base_);
  archive.visit("values_begun", begun);
  archive.visit("unfinished_evaluations", unfinished_);
  archive.visit("row_evaluations", evaluations);
  if (begun > 0 && !begun_ && !shares_radius(*problem_)) sweep({}, 0, base_.data());
  begun_ = begun > 0;
  evaluations_before_ += evaluations - row_evaluations();
}

void MarkovEvaluation::run(std::span<const double> weights) {
  if (problem_->infinite()) {
    run_infinite(weights);
  } else {
    run_finite(weights);
  }
}

void MarkovEvaluation::run_finite(std::span<const double> weights) {
  const std::size_t layer = static_cast<std::size_t>(problem_->model().states()) * channels();
  for (int h = stages_; h-- > 0;) {
    sweep(weights, h, values_.data() + (h + 1) * layer);
    average(weights, h, values_.data() + h * layer);
  }
  sum_at_start(values_.data());
}

void MarkovEvaluation::run_infinite(std::span<const double> weights) {
  constexpr int kPatience = 3;
  if (!begun_ || shares_radius(*problem_)) sweep(weights, 0, base_.data());
  begun_ = true;
  double last = std::numeric_limits<double>::infinity();
  // A linear system that does not bring the values closer is possible for `tilt`, which is not a
  // minimum over kernels. Then plain sweeps have the last word.
  int disappointments = 0;
  for (std::int64_t sweeps = 0;; ++sweeps) {
    average(weights, 0, values_.data());
    const double missing = residual();
    if (missing <= tolerance_) break;
    if (sweeps == most_sweeps_) {
      ++unfinished_;
      break;
    }
    disappointments += missing >= last ? 1 : 0;
    last = missing;
    if (disappointments < kPatience) {
      for (std::size_t i = 0; i < base_.size(); ++i) correction_[i] = values_[i] - base_[i];
      chains_.solve(kernels(weights), correction_);
      for (std::size_t i = 0; i < base_.size(); ++i) base_[i] += correction_[i];
    } else {
      base_ = values_;
    }
    sweep(weights, 0, base_.data());
  }
  sum_at_start(values_.data());
}

void MarkovEvaluation::sweep(std::span<const double> weights, int stage, const double* next) {
  const Model& model = problem_->model();
  weights_ = weights;
  stage_ = stage;
  next_ = next;
  if (!floor_.empty()) {
    for (int c = 0; c < channels(); ++c) {
      const double* own = next + std::int64_t{c} * model.states();
      const auto worth = [&](State s) {
        return own[s] + arrival_worth(*problem_, channels_[c], s);
      };
      State least = 0;
      for (State s = 1; s < model.states(); ++s)
        if (worth(s) < worth(least)) least = s;
      landing_[stage * channels() + c] = least;
      floor_[c] = worth(least);
    }
  }
  const double work = 10.0 * channels() * static_cast<double>(model.outcomes()) / model.stages();
  group_->for_each(model.states(), work, body_);
}

void MarkovEvaluation::sweep_states(std::int64_t begin, std::int64_t end, Worker& worker) {
  if (worker.states) return sweep_shared(begin, end, worker);
  const Model& model = problem_->model();
  const Row first = model.row_begin(stage_, static_cast<State>(begin));
  const Row count = model.row_end(stage_, static_cast<State>(end - 1)) - first;
  for (int c = 0; c < channels(); ++c) {
    RowBatch::Distributions to;
    if (!kernel_.empty())
      to = {row_kernels_.data() + first,
            kernel_.data() + c * kernel_size_ + stage_ * stage_kernel_};
    worker.rows.worst(first, count, channels_[c], next_ + std::int64_t{c} * model.states(),
                      floor_.empty() ? 0 : floor_[c],
                      worth_.data() + c * slots_ + slot(stage_, first),
                      kernel_.empty() ? nullptr : &to);
  }
}

void MarkovEvaluation::sweep_shared(std::int64_t begin, std::int64_t end, Worker& worker) {
  const Model& model = problem_->model();
  const Row first = model.row_begin(stage_, static_cast<State>(begin));
  worker.row.resize(model.row_end(stage_, static_cast<State>(end - 1)) - first);
  std::iota(worker.row.begin(), worker.row.end(), first);
  worker.items.clear();
  for (auto s = static_cast<State>(begin); s < end; ++s) {
    const Row own = model.row_begin(stage_, s);
    const int count = static_cast<int>(model.row_end(stage_, s) - own);
    for (int c = 0; count > 0 && c < channels(); ++c)
      worker.items.push_back({own - first, count, channels_[c]});
  }
  struct Next {
    const MarkovEvaluation& of;
    double operator()(int item, std::int64_t, int, State next) const {
      return of.next_[std::int64_t{item % of.channels()} * of.problem_->model().states() + next];
    }
    double floor(int item, std::int64_t) const { return of.floor_[item % of.channels()]; }
  };
  worker.result.resize(worker.items.size());
  worker.states->worst(worker.items, {worker.row.data(), weights_.data() + slot(stage_, first)},
                       Next{*this}, worker.result.data(), true,
                       [&](int item, const StateLanes& lanes, int lane) {
                         const StateItem& state = worker.items[item];
                         for (int a = 0; a < state.count; ++a)
                           keep_answer(first + state.first + a, item % channels(), lanes, lane, a);
                       });
}

// What a row is worth under nature's answer to the policy, and that answer.
void MarkovEvaluation::keep_answer(Row row, int channel, const StateLanes& lanes, int lane,
                                   int action) {
  const Model& model = problem_->model();
  const double discount = problem_->discount();
  const Channel& of = channels_[channel];
  const auto first = model.outcome_begin(row), last = model.outcome_end(row);
  const double* next = next_ + std::int64_t{channel} * model.states();
  double* kernel = kernel_.empty() ? nullptr
                                   : kernel_.data() + channel * kernel_size_ +
                                         stage_ * stage_kernel_ + row_kernels_[row];
  double worth = of.sign * model.value(of.signal, row);
  for (auto o = first; o < last; ++o) {
    const double chosen = lanes.chosen(lane, action, static_cast<int>(o - first));
    worth += chosen * (of.sign * model.outcome_value(of.signal, o) +
                       discount * next[model.arrays().next[o]]);
    if (kernel != nullptr) kernel[o - first] = chosen;
  }
  const double landing = lanes.landing(lane, action);
  if (!floor_.empty()) worth += discount * landing * floor_[channel];
  if (kernel != nullptr) kernel[last - first] = landing;
  worth_[channel * slots_ + slot(stage_, row)] = worth;
}

void MarkovEvaluation::average(std::span<const double> weights, int stage, double* values) const {
  const Model& model = problem_->model();
  for (int c = 0; c < channels(); ++c) {
    const double* worth = worth_.data() + c * slots_;
    for (State s = 0; s < model.states(); ++s) {
      double sum = 0;
      for (Row row = model.row_begin(stage, s); row < model.row_end(stage, s); ++row)
        sum += weights[slot(stage, row)] * worth[slot(stage, row)];
      *values++ = sum;
    }
  }
}

void MarkovEvaluation::sum_at_start(const double* values) {
  const Start& start = problem_->start();
  std::fill(totals_.begin(), totals_.end(), 0.0);
  const std::int64_t states = problem_->model().states();
  for (std::size_t i = 0; i < start.states.size(); ++i)
    for (int c = 0; c < channels(); ++c)
      totals_[c] += start.probability[i] * values[c * states + start.states[i]];
}

// By contraction, how far the values may be from the fixed point: each channel relative to its
// largest value (or to one), and in `error_` as it is.
double MarkovEvaluation::residual() {
  const double discount = contraction(*problem_, *group_), rest = discount / (1 - discount);
  double relative = 0;
  error_ = 0;
  for (int c = 0; c < channels(); ++c) {
    double change = 0, scale = 1;
    const std::int64_t states = problem_->model().states();
    for (std::int64_t i = c * states; i < (c + 1) * states; ++i) {
      change = std::max(change, std::abs(values_[i] - base_[i]));
      scale = std::max(scale, std::abs(values_[i]));
    }
    relative = std::max(relative, rest * change / scale);
    error_ = std::max(error_, rest * change);
  }
  return relative;
}

std::span<const double> MarkovEvaluation::visits(std::span<const double> weights, int channel) {
  const Model& model = problem_->model();
  const State states = model.states();
  if (problem_->infinite()) {
    chains_.visits(kernels(weights), channel, std::span(visits_).first(states));
    return visits_;
  }
  std::fill(visits_.begin(), visits_.end(), 0.0);
  const Start& start = problem_->start();
  for (std::size_t i = 0; i < start.states.size(); ++i)
    visits_[start.states[i]] += start.probability[i];
  for (int h = 0; h < stages_; ++h) {
    const double* here = visits_.data() + static_cast<std::size_t>(h) * states;
    double* there = visits_.data() + static_cast<std::size_t>(h + 1) * states;
    for (State s = 0; s < states; ++s) {
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        const auto first = model.outcome_begin(row), last = model.outcome_end(row);
        const double leaving = problem_->discount() * here[s] * weights[slot(h, row)];
        const double* mass =
            kernel_.data() + channel * kernel_size_ + h * stage_kernel_ + row_kernels_[row];
        for (auto o = first; o < last; ++o, ++mass)
          there[model.arrays().next[o]] += leaving * *mass;
        if (!landing_.empty()) there[landing_[h * channels() + channel]] += leaving * *mass;
      }
    }
  }
  return visits_;
}

}  // namespace redoubt::internal
