#include "numerics/level_rows.h"

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

// Prices change along an edge by a quarter at most in the logarithm.
std::vector<CurveCorner> random_curve(std::mt19937_64& random) {
  auto corners = testing::random_curve(random, {8, 2, 0.05, 1, 4, 2});
  const std::size_t edges = corners.size() - 3;
  for (std::size_t c = 1; c <= edges; ++c) {
    const double middle = corners[c].log_price;
    const auto half = [&](double other) { return std::min(0.25, 0.5 * std::abs(middle - other)); };
    corners[c].begin = c > 1 ? middle - half(corners[c - 1].log_price) : middle;
    corners[c].end = c < edges ? middle + half(corners[c + 1].log_price) : middle;
  }
  return corners;
}

// One lane at one place.
struct Kernels {
  double base, weight[2], steep[2], level[2][kMostParts], rest[2][kMostParts], smooth, shift[2];
  int parts;
  LevelPart part[kMostParts];

  double at(int j, double value) const {
    const double x = value + shift[j];
    double sum = base;
    for (int k = 0; k < parts; ++k) {
      sum += std::clamp(rest[j][k] + part[k].mass * steep[j] * (level[j][k] - x), 0.0, part[k].cap);
    }
    return weight[j] * sum;
  }
};

Kernels random_kernels(std::mt19937_64& random, int parts, const Kernels& of_place) {
  Kernels k = of_place;
  k.parts = parts;
  for (int j = 0; j < 2; ++j) {
    k.weight[j] = uniform(random, 0.1, 2);
    k.steep[j] = std::exp(uniform(random, -2, 3));
    k.level[j][0] = uniform(random, -2, 4);
    k.level[j][1] = k.level[j][0] - uniform(random, 0, 2);
    for (int n = 0; n < parts; ++n) k.rest[j][n] = uniform(random, 0, k.part[n].cap);
  }
  static constexpr double kSmooth[] = {0, 0.25, 1};
  k.smooth = kSmooth[pick(random, 3)];
  return k;
}

// How much dearer utility is on the curve than to the kernels, at a share of an edge: it rises.
double dearer(const CurveCorner& from, const CurveCorner& to, double share, const Kernels& k) {
  const double begin = from.price / (1 + k.smooth * (from.log_price - from.begin));
  const double end = from.price * (1 + k.smooth * (from.end - from.log_price));
  return (begin + share * (end - begin)) *
             k.at(0, from.reward + share * (to.reward - from.reward)) -
         k.at(1, from.utility + share * (to.utility - from.utility));
}

TEST(LevelRows, EveryLaneStandsWhereTheCurveHasThePriceOfTheKernels) {
  std::mt19937_64 random(5);
  for (const InstructionSet instructions : instruction_sets()) {
    for (int trial = 0; trial < 400; ++trial) {
      const std::vector<CurveCorner> corners = random_curve(random);
      const int lanes = 1 + pick(random, 20), room = padded_lanes(lanes);
      const int last = static_cast<int>(corners.size()) - 3, parts = 1 + pick(random, 2);
      Kernels place{};
      place.base = uniform(random, 0.01, 0.1);
      for (int j = 0; j < 2; ++j) place.shift[j] = uniform(random, -1, 1);
      for (auto& part : place.part) part.mass = part.cap = uniform(random, 0.05, 0.5);
      std::vector<Kernels> each;
      std::vector<double> in[13], out[4];
      for (auto& array : in) array.resize(room);
      for (auto& array : out) array.resize(room);
      std::vector<std::int64_t> corner(room, 0);
      for (int n = 0; n < lanes; ++n) {
        const Kernels& k = each.emplace_back(random_kernels(random, parts, place));
        for (int j = 0; j < 2; ++j) {
          in[j][n] = k.weight[j], in[2 + j][n] = k.steep[j];
          for (int part = 0; part < parts; ++part) {
            in[4 + 2 * j + part][n] = k.level[j][part];
            in[8 + 2 * j + part][n] = k.rest[j][part];
          }
        }
        in[12][n] = k.smooth;
        corner[n] = pick(random, last + 1);
      }
      level_functions(instructions)
          .answer_levels({.lanes = lanes,
                          .parts = parts,
                          .corners = corners.data() + 1,
                          .last = last,
                          .shift = {place.shift[0], place.shift[1]},
                          .base = place.base,
                          .part = {place.part[0], place.part[1]},
                          .weight = {in[0].data(), in[1].data()},
                          .steep = {in[2].data(), in[3].data()},
                          .level = {{in[4].data(), in[5].data()}, {in[6].data(), in[7].data()}},
                          .rest = {{in[8].data(), in[9].data()}, {in[10].data(), in[11].data()}},
                          .smooth = in[12].data(),
                          .corner = corner.data(),
                          .first_guess = trial % 2 == 0,
                          .value = {out[0].data(), out[1].data()},
                          .price = out[2].data(),
                          .give = out[3].data()});
      for (int n = 0; n < lanes; ++n) {
        // By bisection along every edge: the last point where utility is not too dear.
        double reward = corners[1].reward, utility = corners[1].utility;
        for (int c = 1; c <= last; ++c) {
          const CurveCorner &from = corners[c], &to = corners[c + 1];
          if (dearer(from, to, 0, each[n]) >= 0) break;
          double low = 0, high = 1;
          for (int step = 0; step < 60; ++step) {
            const double middle = 0.5 * (low + high);
            (dearer(from, to, middle, each[n]) < 0 ? low : high) = middle;
          }
          reward = from.reward + low * (to.reward - from.reward);
          utility = from.utility + low * (to.utility - from.utility);
          if (low < 1 - 1e-12) break;
        }
        ASSERT_NEAR(out[0][n], reward, 1e-3) << name(instructions) << " lane " << n;
        ASSERT_NEAR(out[1][n], utility, 1e-3);
        ASSERT_GE(out[3][n], 0);
        ASSERT_GE(corner[n], 0);
        ASSERT_LE(corner[n], last);
      }
    }
  }
}

}  // namespace
}  // namespace redoubt
