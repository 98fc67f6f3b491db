#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "redoubt/problem.h"

namespace redoubt {

// How many samples a solve from samples needs, or what they buy. The error is meant of a solver
// that is exact on the estimated model and relaxes each constraint by its `slack`: then, with
// probability 1 - delta, its policy is within epsilon of the best worst-case reward, and breaks no
// constraint by more than epsilon. docs/sampling.md derives it.
struct SampleSize {
  std::int64_t per_row = 0;  // N
  double total = 0;          // N x rows of the model (x stages, where rows depend on the stage)
  double epsilon = 0;
  double delta = 0;
  double reward_error = 0;        // guaranteed bound on the shortfall of the reward
  std::vector<double> violation;  // guaranteed bound on the violation of each constraint
  std::vector<double> slack;      // by how much to relax each constraint when solving

  // For comparison, in the paper's own terms: N by its finite-N lemma with a union bound over rows
  // and stages, and the rate of its theorem with its unnamed constant set to one. Where the paper
  // has no such number (its lemmas need a positive radius), none.
  std::optional<double> lemma_per_row, lemma_total, theorem_total;
};

// The smallest number of samples of each row that guarantees epsilon. Sets tv, chi2, kl and none.
SampleSize samples_needed(const Problem& problem, double epsilon, double delta);

// What `per_row` samples of each row guarantee.
SampleSize samples_buy(const Problem& problem, std::int64_t per_row, double delta);

}  // namespace redoubt
