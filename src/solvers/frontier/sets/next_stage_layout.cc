#include "solvers/frontier/sets/next_stage_layout.h"
#include "numerics/infinity.h"

#include <algorithm>
#include <cmath>

namespace redoubt::internal {
namespace {

constexpr double kMostSmoothed = 0.25;

void find_nearest(const Directions& known, const Directions& directions, NextStageLayout& ahead) {
  const std::vector<double>& price = known.prices();
  const int last = known.rays_begin() - 1;
  for (int k = 0, nearest = 0; k < directions.size(); ++k) {
    const double own = directions.weight(k, 1);
    while (nearest < last && price[nearest + 1] - own <= own - price[nearest]) ++nearest;
    ahead.nearest.push_back(k == directions.rays_begin() ? known.rays_begin() : nearest);
    ahead.log_price.push_back(std::log(own / directions.weight(k, 0)));
  }
}

void add_corners(const Curve& curve, std::vector<CurveCorner>& corners) {
  const int last = curve.corners() - 1;
  corners.push_back(
      {curve.reward[0], curve.utility[0], -kInfinity, -kInfinity, -kInfinity, -kInfinity, 0});
  const auto first = corners.size();
  for (int c = 0; c <= last; ++c) {
    const double price = c < last ? curve.price[c] : kInfinity, middle = std::log(price);
    corners.push_back({curve.reward[c], curve.utility[c], price, middle, middle, middle, 0});
  }
  corners.push_back(corners.back());
  const auto half_rise = [](const CurveCorner& from, const CurveCorner& to) {
    return std::min(kMostSmoothed, (to.log_price - from.log_price) / 2);
  };
  for (int c = 0; c < last; ++c) {
    CurveCorner& own = corners[first + c];
    if (c > 0) own.begin -= half_rise(corners[first + c - 1], own);
    if (c + 1 < last) own.end += half_rise(own, corners[first + c + 1]);
    own.bend = (own.end - own.begin) / (curve.utility[c + 1] - curve.utility[c]);
  }
}

void add_best(const Curve& curve, const Directions& directions, std::vector<std::int64_t>& best) {
  const int end = curve.corners() - 1;
  int corner = 0;
  for (int k = 0; k < directions.size(); ++k) {
    while (corner < end && curve.price[corner] * directions.weight(k, 0) < directions.weight(k, 1))
      ++corner;
    best.push_back(corner);
  }
}

void add_bounds(const TradeOffs& table, std::int64_t place, std::vector<SupportEntry>& supports) {
  const std::vector<double>& price = table.directions().prices();
  const std::size_t last = price.size() - 1;
  const double* bounds = table.bounds(place);
  supports.push_back({0, 0, -kInfinity});
  for (std::size_t k = 0; k <= last; ++k) {
    const double utility =
        k < last ? (bounds[k + 1] - bounds[k]) / (price[k + 1] - price[k]) : bounds[k + 1];
    supports.push_back(
        {bounds[k] - price[k] * utility, utility, k < last ? price[k + 1] : kInfinity});
  }
}

}  // namespace

NextStageLayout lay_out_next_stage(const TradeOffs& table, const std::vector<Curve>& curves,
                                   const Directions& directions) {
  NextStageLayout ahead;
  const Directions& known = table.directions();
  find_nearest(known, directions, ahead);
  ahead.buckets = make_buckets(known.prices());
  std::size_t corners = 0;
  for (const Curve& curve : curves) corners += curve.point.size() + 2;
  ahead.corners.reserve(corners);
  ahead.begin.reserve(curves.size());
  ahead.best.reserve(curves.size() * directions.size());
  ahead.bounds.reserve(curves.size() * (known.prices().size() + 1));
  for (std::size_t place = 0; place < curves.size(); ++place) {
    ahead.begin.push_back(static_cast<std::int64_t>(ahead.corners.size()) + 1);
    add_corners(curves[place], ahead.corners);
    add_best(curves[place], directions, ahead.best);
    add_bounds(table, static_cast<std::int64_t>(place), ahead.bounds);
  }
  return ahead;
}

}  // namespace redoubt::internal
