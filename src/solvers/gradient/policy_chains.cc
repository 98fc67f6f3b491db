#include "solvers/gradient/markov_evaluation.h"

#include <algorithm>
#include <cmath>

#include "bellman/steps.h"

namespace redoubt::internal {

PolicyChains::PolicyChains(const Problem& problem, Workers& workers, int channels)
    : problem_(&problem), workers_(&workers), channels_(channels) {
  const auto states = static_cast<std::size_t>(problem.model().states());
  if (problem.model().states() <= kElimination) matrix_.resize(states * states);
}

template <class Visit>
void PolicyChains::for_each_move(const Kernels& kernels, int channel, State state,
                                 Visit visit) const {
  const Model& model = problem_->model();
  const State* next = model.arrays().next.data();
  for (Row row = model.row_begin(0, state); row < model.row_end(0, state); ++row) {
    const double weight = kernels.weights[row];
    if (weight == 0) continue;
    const auto begin = model.outcome_begin(row), end = model.outcome_end(row);
    const double* mass = kernels.kernel.data() + channel * kernels.size + begin + row;
    for (auto o = begin; o < end; ++o, ++mass) visit(next[o], weight * *mass);
    if (!kernels.landing.empty()) visit(kernels.landing[channel], weight * *mass);
  }
}

void PolicyChains::solve(const Kernels& kernels, std::span<double> x) {
  if (matrix_.empty()) return solve_by_sweeps(kernels, x);
  for (int c = 0; c < channels_; ++c) {
    fill(kernels, c, false);
    eliminate(x.data() + std::int64_t{c} * problem_->model().states());
  }
}

void PolicyChains::visits(const Kernels& kernels, int channel, std::span<double> counts) {
  const Start& start = problem_->start();
  std::fill(counts.begin(), counts.end(), 0.0);
  for (std::size_t i = 0; i < start.states.size(); ++i)
    counts[start.states[i]] += start.probability[i];
  if (matrix_.empty()) return visits_by_sweeps(kernels, channel, counts);
  fill(kernels, channel, true);
  eliminate(counts.data());
}

// matrix = I - discount W, or its transpose.
void PolicyChains::fill(const Kernels& kernels, int channel, bool transposed) {
  const State states = problem_->model().states();
  const double discount = problem_->discount();
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  const std::size_t across = transposed ? states : 1, down = transposed ? 1 : states;
  for (State s = 0; s < states; ++s) {
    double* line = matrix_.data() + s * down;
    line[s * across] = 1;
    for_each_move(kernels, channel, s,
                  [&](State to, double mass) { line[to * across] -= discount * mass; });
  }
}

// Without pivoting: the matrix is diagonally dominant, by rows or (transposed) by columns.
void PolicyChains::eliminate(double* x) {
  const State n = problem_->model().states();
  const auto at = [&](State i) { return matrix_.data() + static_cast<std::size_t>(i) * n; };
  for (State k = 0; k < n; ++k) {
    const double* pivot = at(k);
    const double inverse = 1 / pivot[k];
    for (State i = k + 1; i < n; ++i) {
      double* line = at(i);
      if (line[k] == 0) continue;
      const double factor = line[k] * inverse;
      for (State j = k + 1; j < n; ++j) line[j] -= factor * pivot[j];
      x[i] -= factor * x[k];
    }
  }
  for (State k = n; k-- > 0;) {
    const double* pivot = at(k);
    double sum = x[k];
    for (State j = k + 1; j < n; ++j) sum -= pivot[j] * x[j];
    x[k] = sum / pivot[k];
  }
}

void PolicyChains::solve_by_sweeps(const Kernels& kernels, std::span<double> all) {
  constexpr double kShare = 0.02;  // what is left of the error; the next robust sweep sees it
  const double discount = problem_->discount(), shrinks = contraction(*problem_, *workers_);
  const double rest = shrinks / (1 - shrinks);
  const State states = problem_->model().states();
  for (int c = 0; c < channels_; ++c) {
    const auto x = all.subspan(static_cast<std::size_t>(c) * states, states);
    right_.assign(x.begin(), x.end());
    double scale = 0;
    for (const double value : right_) scale = std::max(scale, std::abs(value));
    for (double change = scale; change * rest > kShare * scale;) {
      workers_->check();
      change = 0;
      for (State s = 0; s < states; ++s) {  // in place: later states already see the new values
        double sum = 0;
        for_each_move(kernels, c, s, [&](State to, double mass) { sum += mass * x[to]; });
        const double better = right_[s] + discount * sum;
        change = std::max(change, std::abs(better - x[s]));
        x[s] = better;
      }
    }
  }
}

void PolicyChains::visits_by_sweeps(const Kernels& kernels, int channel, std::span<double> counts) {
  constexpr double kNegligible = 1e-12;  // of all visits
  const double discount = problem_->discount();
  arriving_.assign(counts.begin(), counts.end());
  const double shrinks = contraction(*problem_, *workers_);
  double left = problem_->undiscounted() ? 1 / (1 - shrinks) : 1;
  while (left > kNegligible) {
    workers_->check();
    following_.assign(counts.size(), 0.0);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      if (arriving_[s] == 0) continue;
      for_each_move(kernels, channel, static_cast<State>(s), [&](State to, double mass) {
        following_[to] += discount * mass * arriving_[s];
      });
    }
    for (std::size_t s = 0; s < counts.size(); ++s) counts[s] += following_[s];
    arriving_.swap(following_);
    left *= shrinks;
  }
}

}  // namespace redoubt::internal
