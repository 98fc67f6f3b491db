#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numerics/isa.h"

// Concave curves of reward over utility, and convex bounds on them, looked at by many lanes at
// once.
namespace redoubt::internal {

// One corner of a curve and the edge from it to the next. The prices of edges ascend.
struct CurveCorner {
  double reward, utility;
  double price;  // reward given up on the edge for one unit of utility; infinite at the last corner
  double log_price;
  // The price of a smooth curve close by rises along each edge: where the edge begins and ends its
  // logarithm is this, and it rises this fast with the utility.
  double begin, end, bend;
  double unused = 0;  // eight numbers fill a cache line
};

// One place that every lane looks at. A tilt in each signal makes a price of a point: its logarithm
// is exchange - cold_0 (reward - mean_0) + cold_1 (utility - mean_1), with the opposite sign. Every
// lane goes to where the curve, smoothed by a share `smooth`, has that price. Arrays are readable
// and writable up to a multiple of eight lanes.
struct CurveLanes {
  int lanes = 0;
  const CurveCorner* corners =
      nullptr;               // one more stands before the first, and one behind the last
  int last = 0;              // corner
  double shift[2] = {0, 0};  // by which the values of this place are higher
  const double* cold[2] = {};
  const double* mean[2] = {};
  const double* exchange = nullptr;
  const double* smooth = nullptr;
  std::int64_t* corner = nullptr;  // a guess; receives the corner
  bool first_guess = false;        // then blocks of lanes learn from those before them
  double* value[2] = {};           // reward and utility of the point
  double* exponent[2] = {};        // of the tilts: cold (mean - value)
  double* share[2] = {};           // by which an exponent follows the other; see TiltedRows
};
void stand_on_curve(const CurveLanes& lanes);

// One place in a game by averages. Every lane goes a share `step` of the way from the utility where
// it stands to that of the best corner at the price that q = weight * kernel makes, and stands on
// the curve there. Arrays are readable and writable up to a multiple of eight lanes.
struct CornerLanes {
  int lanes = 0;
  const CurveCorner* corners = nullptr;  // as above
  int last = 0;                          // corner
  double shift[2] = {0, 0};              // by which the values of this place are higher
  const double* weight[2] = {};          // [lane], and below
  const double* kernel[2] = {};
  const double* step = nullptr;
  std::int64_t* best = nullptr;    // a guess of the best corner; receives it
  std::int64_t* corner = nullptr;  // a guess of the corner at or before the utility; receives it
  double* reward = nullptr;        // receives that of where a lane stands now
  double* utility = nullptr;       // where a lane stands
  double* sum = nullptr;           // what the best corners are worth at q is added to it
};
void step_on_curve(const CornerLanes& lanes);

// A table that is linear between prices: this much for a unit of each weight, up to this price.
// The same numbers begin a CurveCorner, whose last price is infinite, too.
struct SupportEntry {
  double reward, utility, price;
  double unused = 0;  // numbers are read by fours
};

// Finds the entry of a price, or one close to it, in a table that all places share: prices whose
// leading bits are the same share a bucket.
constexpr int kBucketShift = 46;  // of the bits that count: 64 buckets between powers of two
struct PriceBuckets {
  std::int64_t first = 0, last = 0;
  std::vector<std::int64_t> entry;  // of the least price in each
};
PriceBuckets make_buckets(std::span<const double> prices);  // ascending, the first one zero

// sum over places of q_0 (reward + extra_0) + q_1 (utility + extra_1), where q = weight * kernel
// and the entry of each place is the one whose prices are around q_1 / q_0.
struct SupportSum {
  int places = 0, lanes = 0, stride = 0;  // lanes for each place in an array
  const double* weight[2] = {};           // [lane]
  const double* kernel[2] = {};           // [place][lane]
  const double* extra = nullptr;          // [place][signal]
  const double* const* table = nullptr;  // of each place; an entry of price -infinity stands before
  int size = 4;                          // of an entry, in doubles
  // Where the search for the entries begins: in the bucket of the price, if all places have the
  // same prices, or at a guess.
  const std::int64_t* guess = nullptr;  // [place][lane]
  const std::int64_t* bucket_entry = nullptr;
  std::int64_t first_bucket = 0, last_bucket = 0;
};
void sum_supports(const SupportSum& sum, double* to);

struct CurveFunctions {
  void (*stand_on_curve)(const CurveLanes&);
  void (*step_on_curve)(const CornerLanes&);
  void (*sum_supports)(const SupportSum&, double*);
};
const CurveFunctions& curve_functions(InstructionSet instructions);

}  // namespace redoubt::internal
