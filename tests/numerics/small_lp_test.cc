#include "numerics/small_lp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "support/set_rows.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::pick;
using testing::uniform;

struct Instance {
  std::vector<double> reward;
  std::vector<std::vector<double>> utility;
  std::vector<double> threshold;

  MixUnderConstraints view() const { return {reward, {utility.begin(), utility.end()}, threshold}; }
};

// On a coarse grid, where vertices are degenerate and rows are equal, or anywhere.
Instance random_instance(std::mt19937_64& random, int most_actions, int most_constraints) {
  const bool grid = pick(random, 2);
  const auto draw = [&] { return grid ? pick(random, 4) / 4.0 : uniform(random); };
  Instance x;
  x.reward.resize(1 + pick(random, most_actions));
  for (double& r : x.reward) r = draw();
  for (int i = pick(random, most_constraints + 1); i > 0; --i) {
    x.utility.emplace_back(x.reward.size());
    for (double& u : x.utility.back()) u = draw();
    x.threshold.push_back(draw() * 0.8);
  }
  return x;
}

using Real = long double;

// Solves a square system; nothing when it is singular.
std::optional<std::vector<Real>> solve_system(std::vector<std::vector<Real>> m) {
  const std::size_t n = m.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t best = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::abs(m[r][c]) > std::abs(m[best][c])) best = r;
    if (std::abs(m[best][c]) < 1e-12L) return {};
    std::swap(m[c], m[best]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const Real factor = m[r][c] / m[c][c];
      for (std::size_t j = c; j <= n; ++j) m[r][j] -= factor * m[c][j];
    }
  }
  std::vector<Real> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = m[i][n] / m[i][i];
  return x;
}

// Every vertex: n actions with positive weight and n - 1 constraints that hold with equality.
Real best_vertex(const Instance& p) {
  const unsigned actions = 1u << p.reward.size(), constraints = 1u << p.utility.size();
  Real best = -INFINITY;
  for (unsigned some = 1; some < actions; ++some)
    for (unsigned tight = 0; tight < constraints; ++tight) {
      if (__builtin_popcount(some) != __builtin_popcount(tight) + 1) continue;
      std::vector<std::vector<Real>> m;
      std::vector<std::size_t> chosen;
      for (std::size_t a = 0; a < p.reward.size(); ++a)
        if (some >> a & 1) chosen.push_back(a);
      m.emplace_back(chosen.size() + 1, 1);
      for (std::size_t i = 0; i < p.utility.size(); ++i) {
        if (!(tight >> i & 1)) continue;
        std::vector<Real> row;
        for (const std::size_t a : chosen) row.push_back(p.utility[i][a]);
        row.push_back(p.threshold[i]);
        m.push_back(std::move(row));
      }
      const auto x = solve_system(m);
      if (!x) continue;
      bool feasible = *std::min_element(x->begin(), x->end()) >= -1e-15L;
      Real reward = 0;
      for (std::size_t j = 0; j < chosen.size(); ++j) reward += (*x)[j] * p.reward[chosen[j]];
      for (std::size_t i = 0; i < p.utility.size(); ++i) {
        Real utility = 0;
        for (std::size_t j = 0; j < chosen.size(); ++j)
          utility += (*x)[j] * p.utility[i][chosen[j]];
        feasible &= utility >= p.threshold[i] - 1e-15L;
      }
      if (feasible) best = std::max(best, reward);
    }
  return best;
}

double slack(const Instance& p, const std::vector<double>& weight, std::size_t constraint) {
  double utility = 0;
  for (std::size_t a = 0; a < weight.size(); ++a) utility += weight[a] * p.utility[constraint][a];
  return utility - p.threshold[constraint];
}

TEST(SmallLp, FindsTheBestVertex) {
  std::mt19937_64 random(1);
  int feasible = 0, infeasible = 0;
  for (int n = 0; n < 20000; ++n) {
    const Instance p = random_instance(random, 6, 3);
    const ConstrainedMix mix = best_constrained_mix(p.view());
    const double best = static_cast<double>(best_vertex(p));
    if (std::isinf(best)) {
      EXPECT_GT(mix.shortfall, 1e-15) << "problem " << n;
      ++infeasible;
      continue;
    }
    EXPECT_LE(mix.shortfall, 1e-15) << "problem " << n;
    EXPECT_NEAR(mix.reward, best, 1e-13) << "problem " << n;
    for (std::size_t i = 0; i < p.utility.size(); ++i) EXPECT_GE(slack(p, mix.weight, i), -1e-14);
    ++feasible;
  }
  EXPECT_GT(feasible, 5000);
  EXPECT_GT(infeasible, 1500);
}

// Optimality at sizes that cannot be enumerated: the prices prove it (weak duality).
TEST(SmallLp, IsOptimalByDuality) {
  std::mt19937_64 random(2);
  for (int n = 0; n < 300; ++n) {
    const Instance p = random_instance(random, 200, 6);
    const ConstrainedMix mix = best_constrained_mix(p.view());
    if (mix.shortfall > 1e-15) continue;
    double bound = -INFINITY;
    for (std::size_t a = 0; a < p.reward.size(); ++a) {
      double value = p.reward[a];
      for (std::size_t i = 0; i < p.utility.size(); ++i)
        value += mix.price[i] * (p.utility[i][a] - p.threshold[i]);
      bound = std::max(bound, value);
    }
    EXPECT_NEAR(mix.reward, bound, 1e-12) << "problem " << n;
    const auto positive =
        std::count_if(mix.weight.begin(), mix.weight.end(), [](double w) { return w > 0; });
    EXPECT_LE(positive, static_cast<long>(p.utility.size()) + 1);
  }
}

TEST(SmallLp, OfManyIsAsGoodAsOfAll) {
  std::mt19937_64 random(3);
  int feasible = 0, infeasible = 0;
  for (int n = 0; n < 600; ++n) {
    const Instance p = random_instance(random, 150, 1 + n % 4);
    const ConstrainedMix all = best_constrained_mix(p.view());
    const ConstrainedMix some = best_constrained_mix_of_many(p.view());
    ++(all.shortfall > 1e-12 ? infeasible : feasible);
    ASSERT_NEAR(some.shortfall, all.shortfall, 1e-11) << n;
    ASSERT_EQ(some.weight.size(), all.weight.size());
    for (std::size_t i = 0; i < p.utility.size(); ++i)
      EXPECT_GE(slack(p, some.weight, i), -all.shortfall - 1e-11) << n;
    if (all.shortfall > 1e-12) continue;
    EXPECT_NEAR(some.reward, all.reward, 1e-11) << n;
  }
  EXPECT_GT(feasible, 100);
  EXPECT_GT(infeasible, 0);
}

TEST(SmallLp, MissesBothThresholdsByTheLeast) {
  Instance p{{5, 0}, {{1, 0}, {0, 1}}, {0.8, 0.8}};
  const ConstrainedMix mix = best_constrained_mix(p.view());
  EXPECT_NEAR(mix.shortfall, 0.3, 1e-15);
  EXPECT_NEAR(mix.weight[0], 0.5, 1e-15);
}

// Numbers of which an earlier kernel once made an infinity, on which the search went round for
// ever.
TEST(SmallLp, EndsWhateverTheNumbers) {
  const std::vector<double> reward = {32, 33, 38, 40};
  const std::vector<double> x = {-48, -40, -37, -15};
  const std::vector<double> y = {16, std::numeric_limits<double>::infinity(), 16.1, -5};
  const std::vector<double> threshold = {-48, 16};
  EXPECT_EQ(best_constrained_mix({reward, {x, y}, threshold}).weight.size(), 4u);
}

TEST(SmallLp, TakesTheBestActionWithoutConstraints) {
  Instance p{{1, 3, 2}, {}, {}};
  const ConstrainedMix mix = best_constrained_mix(p.view());
  EXPECT_EQ(mix.weight, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(mix.reward, 3);
}

TEST(SmallLp, AWitnessProvesThatNothingMeetsTheThresholds) {
  std::mt19937_64 random(11);
  int proved = 0;
  for (int instance = 0; instance < 2000; ++instance) {
    const Instance x = random_instance(random, 8, 4);
    const ConstrainedMix mix = best_constrained_mix(x.view());
    ASSERT_EQ(mix.witness.empty(), mix.shortfall <= 0);
    if (mix.witness.empty()) continue;
    double sum = 0;
    for (const double part : mix.witness) {
      ASSERT_GE(part, 0);
      sum += part;
    }
    ASSERT_NEAR(sum, 1, 1e-12);
    for (std::size_t a = 0; a < x.reward.size(); ++a) {
      double above = 0;
      for (std::size_t i = 0; i < x.threshold.size(); ++i)
        above += mix.witness[i] * (x.utility[i][a] - x.threshold[i]);
      ASSERT_LE(above, -mix.shortfall + 1e-12);
    }
    ++proved;
  }
  EXPECT_GT(proved, 100);
}

}  // namespace
}  // namespace redoubt
