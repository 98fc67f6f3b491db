#pragma once

#include <span>

#include "solvers/column_generation/weighted_value_iteration.h"

namespace redoubt::internal {

// The policy that is best for a weighted sum of channels where some policies never come to an end
// (`Problem::improper`). Unless nature traps them, whoever stays loses in some channel for ever, so
// that every weight must be positive: those that are zero become very small, and the answer says
// what the weights were.
// With uncertainty, one nature faces the whole sum: that bounds what separate natures leave.
WeightedValueIteration::Best weighted_shortest_path(const Problem& problem,
                                                    std::span<const Channel> channels,
                                                    std::span<const double> weights,
                                                    Workers& workers);

// What no policy that comes to an end has more of, where none is trapped; weights may be zero.
// Infinite where nothing is known.
double most_of_weighted(const Problem& problem, std::span<const Channel> channels,
                        std::span<const double> weights, Workers& workers);

}  // namespace redoubt::internal
