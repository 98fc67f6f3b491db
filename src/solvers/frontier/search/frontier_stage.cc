#include "solvers/frontier/search/frontier_stage.h"

#include <algorithm>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

// Which of the points is worth most in each direction.
std::vector<std::int32_t> best_points(const Directions& directions, std::span<const int> lanes,
                                      const std::vector<double>& points) {
  const int size = directions.size(), signals = directions.signals();
  std::vector<std::int32_t> best(size);
  if (signals == 2) {  // a walk along their curve
    std::vector<double> reward, utility;
    for (const int lane : lanes) {
      reward.push_back(points[lane]);
      utility.push_back(points[size + lane]);
    }
    const Curve curve = curve_of(reward, utility);
    int corner = 0;
    for (int k = 0; k < size; ++k) {
      while (corner + 1 < curve.corners() &&
             curve.price[corner] * directions.weight(k, 0) < directions.weight(k, 1))
        ++corner;
      best[k] = lanes[curve.point[corner]];
    }
    return best;
  }
  for (int k = 0; k < size; ++k) {
    double most = -kInfinity;
    for (const int other : lanes) {
      double value = 0;
      for (int j = 0; j < signals; ++j) value += directions.weight(k, j) * points[j * size + other];
      if (value > most) most = value, best[k] = other;
    }
  }
  return best;
}

}  // namespace

void complete_stage(const Landings& landings, FrontierStage& stage, Workers& workers) {
  stage.curves.clear();
  if (stage.table.directions().constraints() == 1) {
    for (State s = 0; s < landings.model().states(); ++s) {
      workers.check();
      stage.curves.push_back(curve_of(stage.table, s));
    }
  }
  stage.landings = land(landings, stage.curves, stage.table, workers);
  if (stage.table.directions().constraints() == 1) {
    for (std::int64_t place = landings.model().states(); place < stage.table.places(); ++place) {
      stage.curves.push_back(curve_of(stage.table, place));
    }
  } else {
    stage.supports = Supports(stage.table);
  }
}

void complete_first_stage(const Landings& landings, FrontierStage& stage, Workers& workers) {
  if (stage.table.directions().constraints() < 2) return complete_stage(landings, stage, workers);
  stage.supports = Supports(stage.table);
}

double best_inside(const FrontierStage& stage, std::int64_t place, const double* q, int& corner) {
  if (stage.table.directions().constraints() == 1) {  // where the curve's price passes that of q
    const Curve& curve = stage.curves[place];
    const int last = curve.corners() - 1;
    corner = std::min(corner, last);
    while (corner < last && curve.price[corner] * q[0] < q[1]) ++corner;
    while (corner > 0 && curve.price[corner - 1] * q[0] >= q[1]) --corner;
    return q[0] * curve.reward[corner] + q[1] * curve.utility[corner];
  }
  return stage.supports.inside(place, q, corner);
}

void split(const FrontierStage& stage, std::int64_t place, const double* q, int& near,
           Directions::Parts& parts) {
  const Directions& directions = stage.table.directions();
  if (directions.constraints() != 1) {
    stage.supports.outside(place, q, parts);
    return;
  }
  parts.count = 0;
  const Directions::Pair pair = directions.split(q[0], q[1], near);
  if (pair.low_weight > 0) parts.add(pair.low, pair.low_weight);
  if (pair.high_weight > 0) parts.add(pair.high, pair.high_weight);
}

void fill_bounds(const Directions& directions, std::span<const int> lanes, double* bounds) {
  if (directions.constraints() != 1) {
    auto lane = lanes.begin();
    for (int k = 0; k < directions.size(); ++k) {
      if (lane != lanes.end() && *lane == k)
        ++lane;
      else
        bounds[k] = kInfinity;
    }
    return;
  }
  for (std::size_t n = 0; n + 1 < lanes.size(); ++n) {
    const int low = lanes[n], high = lanes[n + 1];
    const double from = directions.weight(low, 1);
    for (int k = low + 1; k < high; ++k) {
      const double rise = directions.weight(k, 1) - from;
      if (high < directions.rays_begin()) {
        const double share = rise / (directions.weight(high, 1) - from);
        bounds[k] = (1 - share) * bounds[low] + share * bounds[high];
      } else {
        bounds[k] = bounds[low] + rise * bounds[high];
      }
    }
  }
}

void keep_best_points(State state, std::span<const int> lanes, const std::vector<double>& points,
                      Recipes own, FrontierStage& here) {
  const Directions& directions = here.table.directions();
  const int size = directions.size();
  const std::vector<std::int32_t> best = best_points(directions, lanes, points);
  Recipes& kept = here.recipes[state];
  kept = std::move(own);
  const std::vector<std::int32_t> action = kept.action, slot = kept.slot;
  for (std::int32_t k = 0; k < size; ++k) {
    for (int j = 0; j < directions.signals(); ++j)
      here.table.points(state, j)[k] = points[static_cast<std::size_t>(j) * size + best[k]];
    kept.action[k] = action[best[k]];
    kept.slot[k] = slot[best[k]];
  }
}

}  // namespace redoubt::internal
