#pragma once

#include <vector>

#include "parallel/exchange.h"
#include "solvers/frontier/search/extremes.h"

namespace redoubt::internal {

// Where the answer is likely to be, as far as memoryless policies show it.
struct Location {
  std::vector<double> prices;  // of each constraint, where the reward has weight one
  // How far the logarithm of a price is spread when the answer comes to a stage: a standard
  // deviation, [stage][constraint]. An infinite horizon has one stage.
  std::vector<std::vector<double>> deviation;
  Policy policy;               // the best mixture of the policies that were looked at
  double row_evaluations = 0;  // of this rank
};

// Tries a handful of prices at a time, each with the policy that takes it for the price of every
// state, and looks closer where the best mixture of these policies has its prices. Of a finite
// horizon. Throws Stopped.
Location locate(const Problem& problem, const Extremes& extremes, Workers& workers,
                Exchange& exchange);

// The same for an infinite horizon, on which prices are known already, without a policy: they
// spread as far as any grid.
Location locate_around(std::vector<double> prices, const Extremes& extremes);

}  // namespace redoubt::internal
