#include "solvers/frontier/search/root.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/small_lp.h"

namespace redoubt::internal {
namespace {

constexpr double kOverReward = 1e6;
constexpr double kMargin = 10;  // of what rounding may take

// What rounding may take from a requirement.
double rounding(double required, double scale) {
  return 1e-12 * std::max(scale, std::abs(required));
}

// The most reward of any mixture that meets one requirement, along the curve of the points.
void mix_along_curve(const TradeOffs& points, double required, double scale, Root& root) {
  const Curve curve = curve_of(points, 0);
  const double slack = rounding(required, scale);
  root.reachable = curve.utility.back() >= required - slack;
  // A little more is asked for where it can be had: what rounding takes from the evaluation must
  // not break the constraint.
  mix_for_utility(curve, std::min(required + kMargin * slack, curve.utility.back()), root.mixture);
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

// The same for several requirements, by the small exact LP, in units of the scales: rewards from
// that of the first point on, utilities from what is required of them on.
void mix_points(const TradeOffs& points, const std::vector<double>& required,
                std::span<const double> scales, Root& root) {
  const auto size = static_cast<std::size_t>(points.directions().size());
  std::vector<std::vector<double>> scaled(scales.size());
  for (std::size_t j = 0; j < scales.size(); ++j) {
    const double* values = points.points(0, static_cast<int>(j));
    const double origin = j == 0 ? values[0] : required[j - 1];
    for (std::size_t k = 0; k < size; ++k) scaled[j].push_back((values[k] - origin) / scales[j]);
  }
  const std::vector<double> threshold(required.size(), 0.0);
  const ConstrainedMix mix =
      best_constrained_mix({scaled[0], {scaled.begin() + 1, scaled.end()}, threshold});
  root.shortfall = mix.shortfall;
  root.reachable = true;
  for (std::size_t c = 0; c < required.size(); ++c)
    root.reachable &= mix.shortfall * scales[c + 1] <= rounding(required[c], scales[c + 1]);
  for (std::size_t k = 0; k < size; ++k) {
    if (mix.weight[k] > 0) root.mixture.push_back({static_cast<std::int32_t>(k), mix.weight[k]});
  }
  // Where nothing meets all requirements yet, what would bring them nearer is what the witness asks
  // for, at a price so high that the reward hardly counts.
  for (std::size_t c = 0; c < required.size(); ++c) {
    const double price = root.reachable ? mix.price[c] : kOverReward * mix.witness[c];
    root.prices.push_back(price * scales[0] / scales[c + 1]);
  }
}

}  // namespace

TradeOffs at_start(const TradeOffs& table, const Start& start) {
  const Directions& directions = table.directions();
  TradeOffs mean(directions, 1);
  for (std::size_t i = 0; i < start.states.size(); ++i) {
    if (start.probability[i] <= 0) continue;  // a bound may be infinite
    for (int k = 0; k < directions.size(); ++k) {
      mean.bounds(0)[k] += start.probability[i] * table.bounds(start.states[i])[k];
      for (int j = 0; j < directions.signals(); ++j) {
        mean.points(0, j)[k] += start.probability[i] * table.points(start.states[i], j)[k];
      }
    }
  }
  return mean;
}

Root solve_root(const TradeOffs& table, const Start& start, const std::vector<double>& required,
                std::span<const double> scales) {
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
      size += directions.weight(k, c + 1) * std::max(scales[c + 1], std::abs(required[c]));
    }
    if (mean.bounds(0)[k] < asked - 1e-9 * size) root.beyond_reach = true;
  }
  if (directions.constraints() == 0) {
    root.mixture = {{0, 1.0}};
  } else if (directions.constraints() == 1) {
    mix_along_curve(mean, required[0], scales[1], root);
  } else {
    mix_points(mean, required, scales, root);
  }
  for (const MemoryMove& move : root.mixture)
    root.value += move.weight * mean.points(0, 0)[move.memory];
  return root;
}

}  // namespace redoubt::internal
