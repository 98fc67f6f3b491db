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

// The prices that a search with this many constraints begins with, in units of the exchange rate of
// two totals, where nothing better is known.
std::vector<double> first_prices(std::size_t constraints);
// The same around a price that is known, up to a deviation of its logarithm.
std::vector<double> prices_around(double price, double deviation, std::size_t constraints);
// The most prices that a constraint may have at a stage, where `most` was asked for.
int most_prices(std::size_t constraints, int most);

// For one constraint: prices are added where the losses are, and every state looks at as many of
// them as its own losses ask for, so that their sum comes to `target`. No stage gets more than
// `most` prices. Ranks call this together, each for its own states. Throws Stopped.
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

// For several constraints: adds prices where the losses are, [stage][list].
void add_prices(const GapAttribution& gaps, double target, int most,
                std::vector<std::vector<std::vector<double>>>& prices);

}  // namespace redoubt::internal
