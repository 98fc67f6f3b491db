#pragma once

#include <vector>

#include "solvers/candidates.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {

// What the policies of a problem have of each channel on its own, and what those that are best for
// one channel have of all of them.
struct Extremes {
  std::vector<Channel> channels;     // the reward, then each constraint
  std::vector<double> required;      // of each constraint, as a utility
  std::vector<ValueIteration> best;  // for each channel
  std::vector<double> least;         // that any policy has of each channel from the start
  std::vector<double> spread;        // from the least to the best of each channel, in any state
  std::vector<std::vector<double>> totals;  // [policy that is best for this channel][channel]

  double most(std::size_t channel, const Start& start) const { return best[channel].at(start); }
  // What one unit of channel j is worth in units of channel i: what the best policy for i has more
  // of it than the best one for j, by what that one has more of j.
  double exchange_rate(std::size_t i, std::size_t j) const;
  // What rounding may take from a requirement.
  double slack(std::size_t constraint) const;
};
using Constraints = std::vector<std::size_t>;  // by number, ascending

// The same for a problem that asks for these constraints only.
Extremes extremes_of(const Extremes& all, const Constraints& asked);

// Offers the policies that are best for one channel, evaluated as they are. Throws Stopped.
Extremes find_extremes(const Problem& problem, Workers& workers, BestPolicy& evaluated);

}  // namespace redoubt::internal
