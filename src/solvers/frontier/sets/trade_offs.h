#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "redoubt/policy.h"
#include "solvers/frontier/sets/directions.h"

namespace redoubt::internal {

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

  int corners() const { return static_cast<int>(point.size()); }
};
Curve curve_of(std::span<const double> reward, std::span<const double> utility);
Curve curve_of(const TradeOffs& table, std::int64_t place);

// The points of a place that no other point matches in all signals, for any number of constraints.
std::vector<std::int32_t> undominated(const TradeOffs& table, std::int64_t place);

// A distribution over two neighbouring corners of a curve: one, and a share of the next.
struct CurveMix {
  std::int32_t corner = 0;
  float next = 0;  // searches keep many of these
};

template <class Visit>
void for_each_corner(const CurveMix& mix, Visit visit) {
  const double next = mix.next;
  if (next < 1) visit(MemoryMove{mix.corner, 1 - next});
  if (next > 0) visit(MemoryMove{mix.corner + 1, next});
}

// What values of the corners a mix has on average.
inline double average(const CurveMix& mix, const std::vector<double>& values) {
  const double value = values[mix.corner];
  return mix.next > 0 ? value + mix.next * (values[mix.corner + 1] - value) : value;
}

// The mix that guarantees a utility with the most reward (or the most utility, if it is less), up
// to its rounding. `near` is a guess of the corner and receives it.
CurveMix mix_along(const Curve& curve, double utility, int& near);

// The same without rounding, as moves to points.
void mix_for_utility(const Curve& curve, double utility, std::vector<MemoryMove>& moves);

}  // namespace redoubt::internal
