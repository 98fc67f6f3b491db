#pragma once

#include <vector>

namespace redoubt::testing {

// A mixture of actions at a corner of { x >= 0, sum x = 1, utility x + shortfall >= threshold,
// shortfall >= 0 }.
struct MixtureCorner {
  std::vector<long double> weight;
  long double shortfall = 0;
};

// All of them, by solving for every choice of tight inequalities: slow, and nothing in common with
// a simplex method. utility[constraint][action].
std::vector<MixtureCorner> mixture_corners(const std::vector<std::vector<long double>>& utility,
                                           const std::vector<long double>& threshold, int actions);

}  // namespace redoubt::testing
