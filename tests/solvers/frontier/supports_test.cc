#include "solvers/frontier/sets/supports.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "numerics/infinity.h"

namespace redoubt {
using namespace internal;
namespace {

// A place whose set is the hull of random points, in the unit of each signal, known exactly in
// random directions; some were not looked at.
struct Known {
  std::mt19937 random;
  std::uniform_real_distribution<double> uniform{0, 1};
  std::vector<double> units;
  std::vector<std::vector<double>> corners;
  TradeOffs table;

  Known(unsigned seed, int constraints, int count, double unit) : random(seed) {
    for (int j = 0; j <= constraints; ++j) units.push_back(j == 1 ? unit : 1);
    for (int n = 0; n < 8; ++n) {
      corners.emplace_back();
      for (const double of_signal : units) corners.back().push_back(of_signal * uniform(random));
    }
    std::vector<double> weights;
    for (int k = 0; k < count; ++k) {
      const std::vector<double> q = direction();
      weights.insert(weights.end(), q.begin(), q.end());
    }
    table = TradeOffs(Directions(constraints, weights), 1);
    for (int k = 0; k < table.directions().size(); ++k) know(k);
  }
  std::vector<double> direction() {
    std::vector<double> q;
    for (const double unit : units) q.push_back(random() % 4 == 0 ? 0 : uniform(random) / unit);
    return q;
  }
  const std::vector<double>& best(const double* q) const {
    const auto worth = [&](const std::vector<double>& corner) {
      double sum = 0;
      for (std::size_t j = 0; j < corner.size(); ++j) sum += q[j] * corner[j];
      return sum;
    };
    return *std::max_element(corners.begin(), corners.end(),
                             [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
  }
  void know(int k) {
    const std::vector<double>& corner = best(table.directions().weights_of(k));
    for (std::size_t j = 0; j < corner.size(); ++j)
      table.points(0, static_cast<int>(j))[k] = corner[j];
    table.bounds(0)[k] = table.along(0, k, k);
    const bool needed = k == table.directions().alone(table.directions().lead(k));
    if (!needed && random() % 5 == 0) table.bounds(0)[k] = kInfinity;
  }
};

// A bound in any direction stands on this: the support function is sublinear.
TEST(Supports, ABoundIsASumOfKnownDirectionsAndNoneOfThemLowersIt) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const int constraints = 2 + static_cast<int>(seed % 3);
    Known known(seed, constraints, static_cast<int>(seed % 40), seed % 2 ? 1.0 : 1e-9);
    const Directions& directions = known.table.directions();
    const Supports supports(known.table);
    for (int round = 0; round < 20; ++round) {
      const std::vector<double> q = known.direction();
      Directions::Parts parts;
      const double outside = supports.outside(0, q.data(), parts);
      std::vector<double> sum(q.size());
      double bound = 0;
      for (int n = 0; n < parts.count; ++n) {
        EXPECT_GT(parts.weight[n], 0);
        bound += parts.weight[n] * known.table.bounds(0)[parts.direction[n]];
        for (std::size_t j = 0; j < q.size(); ++j)
          sum[j] += parts.weight[n] * directions.weight(parts.direction[n], static_cast<int>(j));
      }
      EXPECT_NEAR(outside, bound, 1e-12);
      for (std::size_t j = 0; j < q.size(); ++j)
        EXPECT_NEAR(sum[j] * known.units[j], q[j] * known.units[j], 1e-12);
      const std::vector<double>& corner = known.best(q.data());
      double exact = 0, inside = 0;
      for (std::size_t j = 0; j < q.size(); ++j) exact += q[j] * corner[j];
      std::int32_t point = -1;
      EXPECT_GE(outside, exact - 1e-12) << seed;
      EXPECT_LE(supports.inside(0, q.data(), point), exact + 1e-12);
      for (std::size_t j = 0; j < q.size(); ++j)
        inside += q[j] * known.table.points(0, static_cast<int>(j))[point];
      EXPECT_NEAR(supports.inside(0, q.data(), point), inside, 1e-12);
    }
  }
}

TEST(Supports, AKnownDirectionHasItsOwnBound) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Known known(seed, 2, 30, 1);
    const Supports supports(known.table);
    for (int k = 0; k < known.table.directions().size(); ++k) {
      const double bound = known.table.bounds(0)[k];
      if (!std::isfinite(bound)) continue;
      Directions::Parts parts;
      EXPECT_NEAR(supports.outside(0, known.table.directions().weights_of(k), parts), bound, 1e-11);
    }
  }
}

// Against all ways to write a direction by three others.
TEST(Supports, NoOtherThreeDirectionsBoundLess) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Known known(seed, 2, 12, 1);
    const Directions& directions = known.table.directions();
    const Supports supports(known.table);
    const std::vector<double> q = {known.uniform(known.random), known.uniform(known.random),
                                   known.uniform(known.random)};
    Directions::Parts parts;
    const double found = supports.outside(0, q.data(), parts);
    const auto det = [](const double* a, const double* b, const double* c) {
      return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
             a[2] * (b[0] * c[1] - b[1] * c[0]);
    };
    double least = kInfinity;
    for (int a = 0; a < directions.size(); ++a) {
      for (int b = 0; b < a; ++b) {
        for (int c = 0; c < b; ++c) {
          const double *x = directions.weights_of(a), *y = directions.weights_of(b),
                       *z = directions.weights_of(c);
          const double all = det(x, y, z);
          if (std::abs(all) < 1e-9) continue;
          const double s = det(q.data(), y, z) / all, t = det(x, q.data(), z) / all,
                       u = det(x, y, q.data()) / all;
          if (s < 0 || t < 0 || u < 0) continue;
          const double* bound = known.table.bounds(0);
          least = std::min(least, s * bound[a] + t * bound[b] + u * bound[c]);
        }
      }
    }
    EXPECT_NEAR(found, least, 1e-9) << seed;
  }
}

}  // namespace
}  // namespace redoubt
