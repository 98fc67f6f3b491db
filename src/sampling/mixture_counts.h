#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "redoubt/estimate.h"

namespace redoubt::internal {

// Draws of all rows that mix factors with the same weights: as many draws of one distribution.
struct MixtureCounts {
  struct Weight {
    State factor = 0;
    double weight = 0;
    auto operator<=>(const Weight&) const = default;
  };
  std::vector<Weight> weights;           // the positive ones
  std::map<State, std::int64_t> counts;  // of each next state that was seen
  std::int64_t draws = 0;
};

// The samples of rows pooled by the weights that the features have for them, for each stage of the
// features; rows without samples are in none. Samples of factors themselves are of a weight of one.
std::vector<std::vector<MixtureCounts>> pool(const Estimate& rows, const Model& features);

// How many factors these mixtures can tell apart: the rank of their weights.
State rank_of(const std::vector<MixtureCounts>& mixtures, State factors);

// The factors under which the draws are most likely, a distribution over states each. The
// likelihood is concave, and expectation maximisation climbs it from the uniform distributions;
// where every mixture is one factor it comes to the shares of the pooled draws at once.
std::vector<std::vector<double>> most_likely_factors(const std::vector<MixtureCounts>& mixtures,
                                                     State factors, State states);

// Factors that some mixtures join, directly or through others: of each factor, the number of its
// block, from 0.
std::vector<int> blocks_of(const std::vector<MixtureCounts>& mixtures, State factors);

}  // namespace redoubt::internal
