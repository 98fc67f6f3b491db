#pragma once

#include <span>
#include <vector>

#include "parallel/workers.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// Nature's distributions for every row of one stage and every channel: outcome i of a row, and
// after the last one the mass of landings, at kernel[channel * size + outcome_begin(row) + row +
// i].
struct Kernels {
  std::span<const double> weights;  // of each row: the policy
  std::span<const double> kernel;
  std::int64_t size = 0;           // of one channel
  std::span<const State> landing;  // for each channel, where mass from outside lands; empty: none
};

// The Markov chains, one for each channel, that a stationary policy and nature make together.
// Systems are solved by elimination for few states, by sweeps for many.
class PolicyChains {
 public:
  PolicyChains(const Problem& problem, Workers& workers, int channels);

  // x becomes (I - discount W)^-1 x in every channel; x is laid out [channel][state]. By sweeps,
  // only to a share of x: the caller improves it in any case.
  void solve(const Kernels& kernels, std::span<double> x);

  // The discounted number of visits to each state, for one channel.
  void visits(const Kernels& kernels, int channel, std::span<double> counts);

 private:
  static constexpr State kElimination = 128;  // states up to which elimination is used

  void fill(const Kernels& kernels, int channel, bool transposed);
  void eliminate(double* x);
  void solve_by_sweeps(const Kernels& kernels, std::span<double> all);
  void visits_by_sweeps(const Kernels& kernels, int channel, std::span<double> counts);
  // One step of the chain for one channel and state: visit(next state, probability).
  template <class Visit>
  void for_each_move(const Kernels& kernels, int channel, State state, Visit visit) const;

  const Problem* problem_;
  Workers* workers_;  // works alone, but asks them whether to stop
  int channels_;
  std::vector<double> matrix_, right_, arriving_, following_;
};

}  // namespace redoubt::internal
