#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "redoubt/policy.h"
#include "solvers/frontier/directions.h"

namespace redoubt {

// What is known of the sets F(s) of one stage: all vectors (reward, utilities) that some policy
// guarantees at once from state s. From outside, an upper bound on the support function in every
// direction; from inside, one achievable point for every direction, with the recipe that achieves
// it. Entries are laid out [place][array][direction]; a place is a state or, behind the states, a
// landing.
class TradeOffs {
 public:
  TradeOffs() = default;
  TradeOffs(Directions directions, std::int64_t places);

  const Directions& directions() const { return directions_; }
  std::int64_t places() const { return places_; }
  std::int64_t stride() const { return stride_; }  // from one place to the next
  double* bounds(std::int64_t place) { return values_.data() + place * stride_; }
  const double* bounds(std::int64_t place) const { return values_.data() + place * stride_; }
  double* points(std::int64_t place, int signal) {
    return values_.data() + place * stride_ + (signal + 1) * directions_.size();
  }
  const double* points(std::int64_t place, int signal) const {
    return values_.data() + place * stride_ + (signal + 1) * directions_.size();
  }
  double along(std::int64_t place, int point,
               int direction) const {  // value of a point in a direction
    double sum = 0;
    for (int j = 0; j < directions_.signals(); ++j)
      sum += directions_.weight(direction, j) * points(place, j)[point];
    return sum;
  }

 private:
  Directions directions_;
  std::int64_t places_ = 0, stride_ = 0;
  std::vector<double> values_;
};

// The concave curve through the points of a place, for one constraint: the most reward for each
// utility. Its corners run from the most reward to the most utility.
struct Curve {
  std::vector<std::int32_t> point;      // number of the point that is the corner
  std::vector<double> reward, utility;  // of each corner
  std::vector<double> price;  // of the edge from each corner to the next: reward given up for one
                              // unit of utility, ascending
  std::vector<double> log_price;
  // The price of a smooth curve close by rises along each edge: its logarithm begins and ends this
  // much below and above that of the edge, and rises this fast with the utility.
  std::vector<double> smooth_before, smooth_after, bend;

  int corners() const { return static_cast<int>(point.size()); }
};
Curve curve_of(std::span<const double> reward, std::span<const double> utility);
Curve curve_of(const TradeOffs& table, std::int64_t place);

// The points of a place that no other point matches in all signals, for any number of constraints.
std::vector<std::int32_t> undominated(const TradeOffs& table, std::int64_t place);

// The distribution over points of the curve that guarantees this utility with the most reward (or
// the most utility, if it is less).
void mix_for_utility(const Curve& curve, double utility, std::vector<MemoryMove>& moves);

// The same, as a distribution over the curve's corners.
void mix_along_corners(const Curve& curve, double utility, std::vector<MemoryMove>& moves);

}  // namespace redoubt
