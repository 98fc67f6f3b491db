#include "numerics/curves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sets/row.h"
#include "support/random_curve.h"
#include "support/set_rows.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::pick;
using testing::uniform;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Prices change in a straight line half way between two edges.
std::vector<CurveCorner> random_curve(std::mt19937_64& random) {
  auto corners = testing::random_curve(random, {12, 3, 0.01, 2, 20, 5});
  const std::size_t edges = corners.size() - 3;
  for (std::size_t c = 1; c <= edges; ++c) {
    CurveCorner& corner = corners[c];
    const double middle = corner.log_price;
    corner.begin = c > 1 ? 0.5 * (middle + corners[c - 1].log_price) : middle;
    corner.end = c < edges ? 0.5 * (middle + corners[c + 1].log_price) : middle;
    corner.bend = (corner.end - corner.begin) / (corners[c + 1].utility - corner.utility);
  }
  return corners;
}

struct Tilt {
  double cold[2], mean[2], exchange, smooth;
};
Tilt random_tilt(std::mt19937_64& random) {
  static constexpr double kSmooth[] = {0, 0.25, 1};
  return {{std::exp(uniform(random, -3, 1)), std::exp(uniform(random, -3, 1))},
          {uniform(random, 0, 20), uniform(random, -5, 5)},
          uniform(random, -4, 4),
          kSmooth[pick(random, 3)]};
}

// How much dearer utility is on the curve than to the tilts, at a share of an edge: it rises along
// the curve.
double dearer(const CurveCorner& from, const CurveCorner& to, double share, const Tilt& tilt) {
  const double reward = from.reward + share * (to.reward - from.reward);
  const double utility = from.utility + share * (to.utility - from.utility);
  const double begin = from.log_price + tilt.smooth * (from.begin - from.log_price);
  const double end = from.log_price + tilt.smooth * (from.end - from.log_price);
  return begin + share * (end - begin) + tilt.exchange - tilt.cold[0] * (reward - tilt.mean[0]) +
         tilt.cold[1] * (utility - tilt.mean[1]);
}

struct Point {
  double reward, utility;
};
// By bisection along every edge: the last point where utility is not too dear.
Point reference(const std::vector<CurveCorner>& corners, const Tilt& tilt) {
  const auto edges = corners.size() - 3;
  Point at{corners[1].reward, corners[1].utility};
  for (std::size_t c = 1; c <= edges; ++c) {
    const CurveCorner &from = corners[c], &to = corners[c + 1];
    if (dearer(from, to, 0, tilt) >= 0) break;
    double low = 0, high = 1;
    if (dearer(from, to, 1, tilt) <= 0) low = 1;
    for (int step = 0; step < 60 && low < 1; ++step) {
      const double middle = 0.5 * (low + high);
      (dearer(from, to, middle, tilt) < 0 ? low : high) = middle;
    }
    at = {from.reward + low * (to.reward - from.reward),
          from.utility + low * (to.utility - from.utility)};
    if (low < 1) break;
  }
  return at;
}

TEST(Curves, EveryLaneStandsWhereTheCurveHasItsPrice) {
  std::mt19937_64 random(1);
  for (const InstructionSet instructions : instruction_sets()) {
    for (int trial = 0; trial < 300; ++trial) {
      const std::vector<CurveCorner> corners = random_curve(random);
      const int lanes = 1 + pick(random, 20), room = padded_lanes(lanes);
      const int last = static_cast<int>(corners.size()) - 3;
      const double shift[2] = {uniform(random, -1, 1), uniform(random, -1, 1)};
      std::vector<Tilt> tilts;
      std::vector<double> in[6], out[6];
      for (auto& array : in) array.resize(room);
      for (auto& array : out) array.resize(room);
      std::vector<std::int64_t> corner(room, 0);
      for (int n = 0; n < lanes; ++n) {
        const Tilt tilt = random_tilt(random);
        tilts.push_back(tilt);
        in[0][n] = tilt.cold[0], in[1][n] = tilt.cold[1];
        in[2][n] = tilt.mean[0] + shift[0], in[3][n] = tilt.mean[1] + shift[1];
        in[4][n] = tilt.exchange, in[5][n] = tilt.smooth;
        corner[n] = pick(random, last + 1);
      }
      curve_functions(instructions)
          .stand_on_curve({.lanes = lanes,
                           .corners = corners.data() + 1,
                           .last = last,
                           .shift = {shift[0], shift[1]},
                           .cold = {in[0].data(), in[1].data()},
                           .mean = {in[2].data(), in[3].data()},
                           .exchange = in[4].data(),
                           .smooth = in[5].data(),
                           .corner = corner.data(),
                           .first_guess = trial % 2 == 0,
                           .value = {out[0].data(), out[1].data()},
                           .exponent = {out[2].data(), out[3].data()},
                           .share = {out[4].data(), out[5].data()}});
      for (int n = 0; n < lanes; ++n) {
        const Tilt& tilt = tilts[n];
        const Point expected = reference(corners, tilt);
        ASSERT_NEAR(out[0][n], expected.reward, 1e-9) << name(instructions) << " lane " << n;
        ASSERT_NEAR(out[1][n], expected.utility, 1e-9);
        ASSERT_NEAR(out[2][n], tilt.cold[0] * (tilt.mean[0] - expected.reward), 1e-8);
        ASSERT_NEAR(out[3][n], tilt.cold[1] * (tilt.mean[1] - expected.utility), 1e-8);
        ASSERT_GE(corner[n], 0);
        ASSERT_LE(corner[n], last);
        // The exponents move with the exchange by their shares.
        Tilt moved = tilt;
        moved.exchange += 1e-6;
        const Point other = reference(corners, moved);
        const bool corner_close = [&] {
          return std::any_of(corners.begin(), corners.end(), [&](const CurveCorner& c) {
            return std::abs(c.utility - expected.utility) < 1e-4;
          });
        }();
        if (corner_close) continue;
        ASSERT_NEAR(tilt.cold[1] * (expected.utility - other.utility) / 1e-6, out[5][n], 1e-3);
        ASSERT_NEAR(tilt.cold[0] * (other.reward - expected.reward) / 1e-6, out[4][n], 1e-3);
      }
    }
  }
}

TEST(Curves, StepsGoAShareOfTheWayToTheBestCorner) {
  std::mt19937_64 random(4);
  for (const InstructionSet instructions : instruction_sets()) {
    for (int trial = 0; trial < 300; ++trial) {
      const std::vector<CurveCorner> corners = random_curve(random);
      const int lanes = 1 + pick(random, 20), room = padded_lanes(lanes);
      const int last = static_cast<int>(corners.size()) - 3;
      const double first = corners[1].utility, most = corners[last + 1].utility;
      std::vector<double> weight[2], kernel[2], step(room), reward(room), utility(room), sum(room);
      std::vector<std::int64_t> best(room, 0), corner(room, 0);
      for (auto& array : weight) array.resize(room);
      for (auto& array : kernel) array.resize(room);
      for (int n = 0; n < lanes; ++n) {
        weight[0][n] = pick(random, 8) ? 1 : 0;
        weight[1][n] = pick(random, 8) ? std::exp(uniform(random, -4, 4)) : 0;
        for (auto& array : kernel) array[n] = pick(random, 8) ? uniform(random) : 0;
        step[n] = pick(random, 3) ? uniform(random) : 1;
        utility[n] = uniform(random, first, most);
        best[n] = pick(random, last + 1), corner[n] = pick(random, last + 1);
      }
      const std::vector<double> from = utility;
      curve_functions(instructions)
          .step_on_curve({.lanes = lanes,
                          .corners = corners.data() + 1,
                          .last = last,
                          .shift = {0.5, -0.25},
                          .weight = {weight[0].data(), weight[1].data()},
                          .kernel = {kernel[0].data(), kernel[1].data()},
                          .step = step.data(),
                          .best = best.data(),
                          .corner = corner.data(),
                          .reward = reward.data(),
                          .utility = utility.data(),
                          .sum = sum.data()});
      for (int n = 0; n < lanes; ++n) {
        const double q0 = weight[0][n] * kernel[0][n], q1 = weight[1][n] * kernel[1][n];
        const auto worth = [&](int c) {
          return q0 * (corners[c + 1].reward + 0.5) + q1 * (corners[c + 1].utility - 0.25);
        };
        double expected = worth(0);
        for (int c = 1; c <= last; ++c) expected = std::max(expected, worth(c));
        ASSERT_NEAR(sum[n], expected, 1e-9 * (1 + std::abs(expected))) << name(instructions);
        ASSERT_NEAR(worth(static_cast<int>(best[n])), expected, 1e-9 * (1 + std::abs(expected)));
        // Where nothing counts, a lane stays where it is.
        const double target = q0 + q1 > 0 ? corners[best[n] + 1].utility : from[n];
        ASSERT_NEAR(utility[n], from[n] + step[n] * (target - from[n]), 1e-12);
        const CurveCorner &left = corners[corner[n] + 1], &right = corners[corner[n] + 2];
        ASSERT_LE(left.utility, utility[n]);
        if (corner[n] < last) {
          ASSERT_GE(right.utility, utility[n]);
        }
        const double along = right.utility > left.utility
                                 ? (utility[n] - left.utility) / (right.utility - left.utility)
                                 : 0;
        ASSERT_NEAR(reward[n], left.reward + along * (right.reward - left.reward), 1e-9);
      }
    }
  }
}

// Tables of places that share their prices, with what stands before the first entry.
struct Tables {
  std::vector<double> prices;
  std::vector<std::vector<SupportEntry>> places;
};
Tables random_tables(std::mt19937_64& random, int places) {
  Tables tables;
  tables.prices = {0};
  const int count = pick(random, 30);
  for (int k = 0; k < count; ++k)
    tables.prices.push_back(tables.prices.back() + std::exp(uniform(random, -8, 2)));
  for (int i = 0; i < places; ++i) {
    auto& table = tables.places.emplace_back();
    table.push_back({0, 0, -kInfinity});
    for (std::size_t k = 0; k < tables.prices.size(); ++k) {
      const double up_to = k + 1 < tables.prices.size() ? tables.prices[k + 1] : kInfinity;
      table.push_back({uniform(random, -1, 1), uniform(random, -1, 1), up_to});
    }
  }
  return tables;
}

TEST(Curves, SupportsAreThoseAroundThePrice) {
  std::mt19937_64 random(2);
  for (const InstructionSet instructions : instruction_sets()) {
    for (int trial = 0; trial < 300; ++trial) {
      const int places = 1 + pick(random, 5), lanes = 1 + pick(random, 20);
      const int room = padded_lanes(lanes);
      const Tables tables = random_tables(random, places);
      const PriceBuckets buckets = make_buckets(tables.prices);
      std::vector<double> weight[2], kernel[2], extra, sum(room);
      std::vector<std::int64_t> guess(places * room, 0);
      for (auto& array : weight) array.resize(room);
      for (auto& array : kernel) array.resize(places * room);
      for (int n = 0; n < lanes; ++n) {
        weight[0][n] = pick(random, 8) ? 1 : 0;
        weight[1][n] = pick(random, 8) ? std::exp(uniform(random, -8, 4)) : 0;
        for (int i = 0; i < places; ++i) {
          for (auto& array : kernel) array[i * room + n] = pick(random, 8) ? uniform(random) : 0;
          guess[i * room + n] = pick(random, static_cast<int>(tables.prices.size()));
        }
      }
      std::vector<const double*> table;
      for (const auto& place : tables.places) table.push_back(&place[1].reward);
      for (int i = 0; i < 2 * places; ++i) extra.push_back(uniform(random, -1, 1));
      SupportSum request{.places = places,
                         .lanes = lanes,
                         .stride = room,
                         .weight = {weight[0].data(), weight[1].data()},
                         .kernel = {kernel[0].data(), kernel[1].data()},
                         .extra = extra.data(),
                         .table = table.data()};
      if (trial % 2 == 0) {
        request.guess = guess.data();
      } else {
        request.bucket_entry = buckets.entry.data();
        request.first_bucket = buckets.first;
        request.last_bucket = buckets.last;
      }
      curve_functions(instructions).sum_supports(request, sum.data());
      for (int n = 0; n < lanes; ++n) {
        double expected = 0;
        for (int i = 0; i < places; ++i) {
          const double q0 = weight[0][n] * kernel[0][i * room + n];
          const double q1 = weight[1][n] * kernel[1][i * room + n];
          std::size_t k = 0;
          while (k + 1 < tables.prices.size() && tables.prices[k + 1] * q0 <= q1) ++k;
          const SupportEntry& entry = tables.places[i][k + 1];
          expected += q0 * (entry.reward + extra[i * 2]) + q1 * (entry.utility + extra[i * 2 + 1]);
        }
        ASSERT_NEAR(sum[n], expected, 1e-12 * (1 + std::abs(expected)))
            << name(instructions) << " trial " << trial << " lane " << n;
      }
    }
  }
}

TEST(Curves, BucketsBeginAtOrBelowEveryPriceInThem) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Tables tables = random_tables(random, 0);
    const PriceBuckets buckets = make_buckets(tables.prices);
    ASSERT_EQ(buckets.entry.size(), static_cast<std::size_t>(buckets.last - buckets.first + 1));
    ASSERT_EQ(buckets.entry.front(), 0);
    ASSERT_EQ(buckets.entry.back(), static_cast<std::int64_t>(tables.prices.size()) - 1);
    ASSERT_TRUE(std::is_sorted(buckets.entry.begin(), buckets.entry.end()));
  }
}

}  // namespace
}  // namespace redoubt
