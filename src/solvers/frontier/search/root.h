#pragma once

#include <span>
#include <vector>

#include "redoubt/problem.h"
#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// The answer at the start, read off the first stage: which points to draw, what they guarantee, and
// what bounds it.
struct Root {
  bool reachable = true;  // some mixture of points meets every requirement
  // Of the mixture, with several requirements, in units of their scales; as small as it can be
  // made.
  double shortfall = 0;
  bool beyond_reach =
      false;  // a constraint on its own is proved to be out of reach of every policy
  std::vector<MemoryMove> mixture;  // of points of the first stage
  double value = 0;                 // guaranteed reward of the mixture
  double bound = 0;                 // no policy guarantees more
  std::vector<double>
      prices;  // of the constraints at the optimum: where the next refinement should look
};

// `required` is the bound of each constraint in the sign of a utility; `scales` are the spreads of
// the reward and of each utility.
Root solve_root(const TradeOffs& table, const Start& start, const std::vector<double>& required,
                std::span<const double> scales);

// The points of the first stage averaged over the start, as a table with one place.
TradeOffs at_start(const TradeOffs& table, const Start& start);

}  // namespace redoubt::internal
