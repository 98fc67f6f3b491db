#pragma once

#include <vector>

#include "solvers/frontier/search/gap_attribution.h"

namespace redoubt::internal {

// What one stage looks at: its directions, and how exactly the games of each state are played in
// each of them, [state * directions + direction], of this rank's states. Directions that a state
// does not look at, where that is infinite, are filled in from their neighbours.
struct StagePlan {
  Directions directions;
  std::vector<double> tolerance;
};

// The prices that a search with one constraint begins with, in units of the exchange rate of two
// totals, where nothing better is known.
std::vector<double> first_prices();
// The same around a price that is known, up to a deviation of its logarithm. What is lost between
// prices adds up over the stages, so more stages ask for closer ones.
std::vector<double> prices_around(double price, double deviation, int stages);
// With several constraints: directions around the one with these prices, each of which has a
// deviation, and those that leave some of the signals out.
Directions directions_around(const std::vector<double>& prices,
                             const std::vector<double>& deviation);

// What a stage shall look at. With one constraint prices are added where the losses are, and every
// state looks at as many of them as its own losses ask for, so that their sum comes to `target`. No
// stage gets more than `most` directions. Ranks call this together, each for its own states. Throws
// Stopped.
struct PriceGrid {
  Directions directions;
  std::vector<char> looks_at;  // [state * directions + direction]
  // What will be followed there, if what was followed to the old directions is spread evenly
  // between them.
  std::vector<double> visits;
  bool finer = false;  // some state looks at more
};
std::vector<PriceGrid> refine_grids(const GapAttribution& gaps, double target, int most,
                                    const std::vector<StagePlan>& before, const Model& model,
                                    Workers& workers);

// The same for several constraints: every state looks at one more direction near each of its own
// where more is lost than `least`. States share directions that are close for them. `scales` are
// the spreads of the signals.
std::vector<PriceGrid> add_directions(const GapAttribution& gaps, double least, int most,
                                      const std::vector<StagePlan>& before, const Problem& problem,
                                      std::span<const double> scales, Workers& workers);

}  // namespace redoubt::internal
