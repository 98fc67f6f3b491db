#include "support/set_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace redoubt::testing {

namespace {

using Real = long double;

// One lane of a row, sorted by value, lowest first, with probabilities that sum to one in long
// double.
struct Sorted {
  std::vector<Real> p, v, lower, upper;
};

Sorted sorted(const SetRow& row, int lane) {
  const std::vector<double> v = row.lane(lane);
  std::vector<int> order(v.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return v[a] < v[b]; });
  const Real sum = std::accumulate(row.probability.begin(), row.probability.end(), Real{0});
  Sorted s;
  for (int i : order) {
    s.p.push_back(row.probability[i] / sum);
    s.v.push_back(v[i]);
    if (!row.lower.empty()) {
      s.lower.push_back(row.lower[i]);
      s.upper.push_back(row.upper[i]);
    }
  }
  return s;
}

Real mean(const Sorted& s) {
  return std::inner_product(s.p.begin(), s.p.end(), s.v.begin(), Real{0});
}

Real worst(const TV&, const Sorted& s, Real radius, Real floor) {
  const Real low = std::min(s.v.front(), floor);
  Real left = radius, value = 0;
  for (std::size_t i = s.v.size(); i-- > 0;) {
    const Real moved = s.v[i] > low ? std::min(left, s.p[i]) : 0;
    left -= moved;
    value += (s.p[i] - moved) * (s.v[i] - low);
  }
  return low + value;
}

// Tries every set of outcomes that could keep mass (the lowest n), and keeps the best of the lower
// bounds they give.
Real worst(const Chi2&, const Sorted& s, Real radius, Real) {
  if (radius == 0) return mean(s);
  Real best = s.v.front(), mass = 0, left_out = 1;
  for (std::size_t n = 1; n <= s.v.size(); ++n) {
    mass += s.p[n - 1];
    left_out = std::accumulate(s.p.begin() + n, s.p.end(), Real{0});
    const Real excess = radius * mass - left_out;
    if (excess <= 0) continue;
    Real m = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) m += s.p[i] * (s.v[i] - s.v[0]) / mass;
    for (std::size_t i = 0; i < n; ++i)
      variance += s.p[i] * std::pow(s.v[i] - s.v[0] - m, 2) / mass;
    const Real eta = s.v[0] + m + std::sqrt(variance / excess);
    Real second = 0;  // the dual at eta, with all outcomes
    for (std::size_t i = 0; i < s.v.size(); ++i)
      second += s.p[i] * std::pow(std::max(eta - s.v[i], Real{0}), 2);
    best = std::max(best, eta - std::sqrt((1 + radius) * second));
  }
  return best;
}

struct Dual {
  Real divergence, value;
};

Dual kl_dual(const Sorted& s, Real radius, Real scale) {
  Real change = 0, mass = 0, first = 0;
  for (std::size_t i = 0; i < s.v.size(); ++i) {
    const Real x = (s.v[0] - s.v[i]) * scale;
    change += s.p[i] * std::expm1(x);
    mass += s.p[i] * std::exp(x);
    first += s.p[i] * std::exp(x) * x;
  }
  const Real log_mass = change > Real{-0.5} ? std::log1p(change) : std::log(mass);
  return {first / mass - log_mass, s.v[0] - (radius + log_mass) / scale};
}

Real worst(const KL&, const Sorted& s, Real radius, Real) {
  const Real range = s.v.back() - s.v.front();
  Real at_low = 0;
  for (std::size_t i = 0; i < s.v.size(); ++i) at_low += s.v[i] == s.v[0] ? s.p[i] : 0;
  if (radius == 0) return mean(s);
  if (range == 0 || radius >= -std::log(at_low)) return s.v[0];
  Real low = std::log(Real{1e-20}), high = std::log(Real{1e25});  // of scale * range
  for (int step = 0; step < 120; ++step) {
    const Real middle = (low + high) / 2;
    (kl_dual(s, radius, std::exp(middle) / range).divergence < radius ? low : high) = middle;
  }
  return std::max(kl_dual(s, radius, std::exp(low) / range).value, s.v[0]);
}

Real worst(const Tilt&, const Sorted& s, Real temperature, Real) {
  Real mass = 0, first = 0;
  for (std::size_t i = 0; i < s.v.size(); ++i) {
    const Real weight = s.p[i] * std::exp((s.v[0] - s.v[i]) / temperature);
    mass += weight;
    first += weight * (s.v[i] - s.v[0]);
  }
  return s.v[0] + first / mass;
}

Real worst(const Interval&, const Sorted& s, Real, Real) {
  Real left = 1 - std::accumulate(s.lower.begin(), s.lower.end(), Real{0}), value = 0;
  for (std::size_t i = 0; i < s.v.size(); ++i) {
    const Real given = std::min(std::max(left, Real{0}), s.upper[i] - s.lower[i]);
    left -= given;
    value += (s.lower[i] + given) * (s.v[i] - s.v[0]);
  }
  return s.v[0] + value;
}

Real worst(const Nominal&, const Sorted& s, Real, Real) { return mean(s); }

}  // namespace

long double reference_worst_case(const Uncertainty& set, const SetRow& row, int lane) {
  const Real floor = row.floor.empty() ? std::numeric_limits<Real>::infinity() : row.floor[lane];
  const Sorted s = sorted(row, lane);
  return std::visit([&](const auto& kind) { return worst(kind, s, Real{row.radius}, floor); }, set);
}

bool is_benign(const Uncertainty& set, const SetRow& row, int lane) {
  const Sorted s = sorted(row, lane);
  Real at_low = 0;
  for (std::size_t i = 0; i < s.v.size(); ++i) at_low += s.v[i] == s.v[0] ? s.p[i] : 0;
  const Real edge = std::holds_alternative<KL>(set) ? -std::log(at_low) : 1 / at_low - 1;
  return *std::min_element(s.p.begin(), s.p.end()) >= 1e-13 &&
         (row.radius == 0 || row.radius > 1e-9) &&
         std::abs(row.radius - edge) > 1e-6 * std::max(edge, Real{1e-9});
}

double error_unit(const SetRow& row, int lane) {
  std::vector<double> v = row.lane(lane);
  if (!row.floor.empty()) v.push_back(row.floor[lane]);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  return std::max({1e-300, *high - *low, 1e-4 * std::abs(*low), 1e-4 * std::abs(*high)});
}

}  // namespace redoubt::testing
