#pragma once

#include "numerics/curves.h"
#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// What a stage looks like from the directions of the one before it, laid out for lanes. One
// constraint.
struct NextStageLayout {
  std::vector<std::int32_t> nearest;  // direction of the stage with the nearest price
  std::vector<double> log_price;      // of each direction, infinite for the ray
  // The corners of all curves, from corners[begin[place]] on; one more stands before the first and
  // one behind the last of every place.
  std::vector<CurveCorner> corners;
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> best;  // corner of each place in each direction: [place][direction]
  // What the bounds say of directions between theirs: [place][price], and one entry more before the
  // first price of every place.
  std::vector<SupportEntry> bounds;
  PriceBuckets buckets;

  const CurveCorner* corners_of(std::int64_t place) const { return corners.data() + begin[place]; }
  const SupportEntry* bounds_of(std::int64_t place) const {
    return bounds.data() + place * static_cast<std::int64_t>(bounds.size() / begin.size()) + 1;
  }
};
NextStageLayout lay_out_next_stage(const TradeOffs& table, const std::vector<Curve>& curves,
                                   const Directions& directions);

}  // namespace redoubt::internal
