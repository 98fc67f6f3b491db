#include "sets/reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace redoubt {
namespace {

using Real = long double;

// Lowest value first, probabilities that sum to one in long double.
ReferenceRow sorted(const ReferenceRow& row) {
  std::vector<int> order(row.value.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return row.value[a] < row.value[b]; });
  const Real sum = std::accumulate(row.probability.begin(), row.probability.end(), Real{0});
  ReferenceRow s;
  s.radius = row.radius;
  s.floor = row.floor;
  for (const int i : order) {
    s.probability.push_back(row.probability[i] / sum);
    s.value.push_back(row.value[i]);
    if (row.lower.empty()) continue;
    s.lower.push_back(row.lower[i]);
    s.upper.push_back(row.upper[i]);
  }
  return s;
}

Real mean(const ReferenceRow& s) {
  return std::inner_product(s.probability.begin(), s.probability.end(), s.value.begin(), Real{0});
}

Real worst(const Nominal&, const ReferenceRow& s) { return mean(s); }

Real worst(const TV&, const ReferenceRow& s) {
  const std::vector<Real>&p = s.probability, &v = s.value;
  const Real low = std::min(v.front(), s.floor.value_or(v.front()));
  Real left = s.radius, value = 0;
  for (std::size_t i = v.size(); i-- > 0;) {
    const Real moved = v[i] > low ? std::min(left, p[i]) : 0;
    left -= moved;
    value += (p[i] - moved) * (v[i] - low);
  }
  return low + value;
}

// Tries every set of outcomes that could keep mass (the lowest n), and keeps the best of the lower
// bounds they give.
Real worst(const Chi2&, const ReferenceRow& s) {
  const std::vector<Real>&p = s.probability, &v = s.value;
  if (s.radius == 0) return mean(s);
  Real best = v.front(), mass = 0;
  for (std::size_t n = 1; n <= v.size(); ++n) {
    mass += p[n - 1];
    const Real left_out = std::accumulate(p.begin() + n, p.end(), Real{0});
    const Real excess = s.radius * mass - left_out;
    if (excess <= 0) continue;
    Real m = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) m += p[i] * (v[i] - v[0]) / mass;
    for (std::size_t i = 0; i < n; ++i) variance += p[i] * std::pow(v[i] - v[0] - m, 2) / mass;
    const Real eta = v[0] + m + std::sqrt(variance / excess);
    Real second = 0;  // the dual at eta, with all outcomes
    for (std::size_t i = 0; i < v.size(); ++i)
      second += p[i] * std::pow(std::max(eta - v[i], Real{0}), 2);
    best = std::max(best, eta - std::sqrt((1 + s.radius) * second));
  }
  return best;
}

struct Dual {
  Real divergence, value;
};

Dual kl_dual(const ReferenceRow& s, Real scale) {
  Real change = 0, mass = 0, first = 0;
  for (std::size_t i = 0; i < s.value.size(); ++i) {
    const Real x = (s.value[0] - s.value[i]) * scale;
    change += s.probability[i] * std::expm1(x);
    mass += s.probability[i] * std::exp(x);
    first += s.probability[i] * std::exp(x) * x;
  }
  const Real log_mass = change > Real{-0.5} ? std::log1p(change) : std::log(mass);
  return {first / mass - log_mass, s.value[0] - (s.radius + log_mass) / scale};
}

// The largest value of the dual, by bisection of the divergence of its tilted row.
Real worst(const KL&, const ReferenceRow& s) {
  const Real range = s.value.back() - s.value.front();
  Real at_low = 0;
  for (std::size_t i = 0; i < s.value.size(); ++i)
    at_low += s.value[i] == s.value[0] ? s.probability[i] : 0;
  if (s.radius == 0) return mean(s);
  if (range == 0 || s.radius >= -std::log(at_low)) return s.value[0];
  Real low = std::log(Real{1e-20}), high = std::log(Real{1e25});  // of scale * range
  for (int step = 0; step < 70; ++step) {
    const Real middle = (low + high) / 2;
    (kl_dual(s, std::exp(middle) / range).divergence < s.radius ? low : high) = middle;
  }
  return std::max(kl_dual(s, std::exp(low) / range).value, s.value[0]);
}

Real worst(const Tilt&, const ReferenceRow& s) {
  Real mass = 0, first = 0;
  for (std::size_t i = 0; i < s.value.size(); ++i) {
    const Real weight = s.probability[i] * std::exp((s.value[0] - s.value[i]) / s.radius);
    mass += weight;
    first += weight * (s.value[i] - s.value[0]);
  }
  return s.value[0] + first / mass;
}

// The least that must be given to each outcome, and the rest to the lowest values first.
Real worst(const Interval&, const ReferenceRow& s) {
  Real left = 1 - std::accumulate(s.lower.begin(), s.lower.end(), Real{0}), value = 0;
  for (std::size_t i = 0; i < s.value.size(); ++i) {
    const Real given = std::min(std::max(left, Real{0}), s.upper[i] - s.lower[i]);
    left -= given;
    value += (s.lower[i] + given) * (s.value[i] - s.value[0]);
  }
  return s.value[0] + value;
}

}  // namespace

long double reference_worst_case(const Uncertainty& set, ReferenceRow row) {
  return std::visit([s = sorted(row)](const auto& kind) { return worst(kind, s); }, set);
}

}  // namespace redoubt
