#include "solvers/frontier/root.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/small_lp.h"

namespace redoubt {
namespace {

constexpr double kOverReward = 1e6;

// The most reward of any mixture that meets one requirement, along the curve of the points.
void mix_along_curve(const TradeOffs& points, double required, Root& root) {
  const Curve curve = curve_of(points, 0);
  const double slack = 1e-12 * std::max(1.0, std::abs(required));
  root.reachable = curve.utility.back() >= required - slack;
  mix_for_utility(curve, required, root.mixture);
  const auto corner =
      std::lower_bound(curve.utility.begin(), curve.utility.end(), required - slack) -
      curve.utility.begin();
  const auto edges = static_cast<std::ptrdiff_t>(curve.price.size());
  // On an edge the price is the edge's. At a corner every price between those of its two edges is
  // right; the middle one looks at both.
  const double flat = corner == 0 || edges == 0 ? 0.0 : curve.price[std::min(corner, edges) - 1];
  const double steep = corner < edges ? curve.price[corner] : flat;
  const bool at_corner = corner < curve.corners() && curve.utility[corner] <= required + slack;
  root.prices = {at_corner ? 0.5 * (flat + steep) : flat};
}

// The same for several requirements, by the small exact LP.
void mix_points(const TradeOffs& points, const std::vector<double>& required, Root& root) {
  const auto size = static_cast<std::size_t>(points.directions().size());
  MixUnderConstraints problem{{points.points(0, 0), size}, {}, required};
  for (std::size_t c = 0; c < required.size(); ++c) {
    problem.utility.emplace_back(points.points(0, static_cast<int>(c) + 1), size);
  }
  const ConstrainedMix mix = best_constrained_mix(problem);
  double scale = 1;
  for (const double bound : required) scale = std::max(scale, std::abs(bound));
  root.shortfall = mix.shortfall;
  root.reachable = mix.shortfall <= 1e-12 * scale;
  for (std::size_t k = 0; k < size; ++k) {
    if (mix.weight[k] > 0) root.mixture.push_back({static_cast<std::int32_t>(k), mix.weight[k]});
  }
  if (root.reachable) {
    root.prices = mix.price;
    return;
  }
  // Nothing meets all requirements yet. What would bring them nearer is what the witness asks for,
  // at a price so high that the reward hardly counts.
  double range = 1e-300, weight = 1e-300;
  for (std::size_t k = 0; k < size; ++k) range = std::max(range, std::abs(points.points(0, 0)[k]));
  for (std::size_t c = 0; c < required.size(); ++c)
    weight += mix.witness[c] * std::max(1e-3 * scale, std::abs(required[c]));
  for (const double part : mix.witness) root.prices.push_back(kOverReward * part * range / weight);
}

}  // namespace

TradeOffs at_start(const TradeOffs& table, const Start& start) {
  const Directions& directions = table.directions();
  TradeOffs mean(directions, 1);
  for (std::size_t i = 0; i < start.states.size(); ++i) {
    for (int k = 0; k < directions.size(); ++k) {
      mean.bounds(0)[k] += start.probability[i] * table.bounds(start.states[i])[k];
      for (int j = 0; j < directions.signals(); ++j) {
        mean.points(0, j)[k] += start.probability[i] * table.points(start.states[i], j)[k];
      }
    }
  }
  return mean;
}

Root solve_root(const TradeOffs& table, const Start& start, const std::vector<double>& required) {
  const Directions& directions = table.directions();
  const TradeOffs mean = at_start(table, start);
  Root root;
  // Weak duality: at any prices, reward plus priced utilities is at most its bound, and the
  // utilities are worth at least their price.
  root.bound = std::numeric_limits<double>::infinity();
  for (int k = 0; k < directions.rays_begin(); ++k) {
    double bound = mean.bounds(0)[k];
    for (int c = 0; c < directions.constraints(); ++c)
      bound -= directions.weight(k, c + 1) * required[c];
    root.bound = std::min(root.bound, bound);
  }
  for (int k = directions.rays_begin(); k < directions.size(); ++k) {
    double asked = 0, size = 0;
    for (int c = 0; c < directions.constraints(); ++c) {
      asked += directions.weight(k, c + 1) * required[c];
      size += directions.weight(k, c + 1) * std::max(1.0, std::abs(required[c]));
    }
    if (mean.bounds(0)[k] < asked - 1e-9 * size) root.beyond_reach = true;
  }
  if (directions.constraints() == 0) {
    root.mixture = {{0, 1.0}};
  } else if (directions.constraints() == 1) {
    mix_along_curve(mean, required[0], root);
  } else {
    mix_points(mean, required, root);
  }
  for (const MemoryMove& move : root.mixture)
    root.value += move.weight * mean.points(0, 0)[move.memory];
  return root;
}

}  // namespace redoubt
