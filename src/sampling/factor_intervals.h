#pragma once

#include <vector>

#include "sampling/binomial.h"
#include "sampling/mixture_counts.h"

namespace redoubt::internal {

using FactorIntervals = std::vector<std::vector<Range>>;  // [factor][state]

// An interval for each probability of each factor, of which each fails with probability at most
// exp(-evidence): a factor that no mixture joins with another one has those of the coins that its
// draws are, others the ends of their region. `likely`: the factors under which the draws are
// likely.
FactorIntervals factor_intervals(const std::vector<MixtureCounts>& mixtures,
                                 const std::vector<std::vector<double>>& likely, double evidence);

// Moves a distribution into the intervals of its probabilities.
void keep_within(const std::vector<Range>& intervals, std::vector<double>& probability);

}  // namespace redoubt::internal
