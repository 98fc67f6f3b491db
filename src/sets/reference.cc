#include "sets/reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace redoubt::internal {
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

struct Moments {
  Real mass = 0, mean = 0, variance = 0;  // the mean is relative to the lowest value
};

// Of the outcomes with the lowest `count` values.
Moments moments(const ReferenceRow& s, std::size_t count) {
  const std::vector<Real>&p = s.probability, &v = s.value;
  Moments m;
  for (std::size_t i = 0; i < count; ++i) m.mass += p[i];
  for (std::size_t i = 0; i < count; ++i) m.mean += p[i] * (v[i] - v[0]) / m.mass;
  for (std::size_t i = 0; i < count; ++i)
    m.variance += p[i] * std::pow(v[i] - v[0] - m.mean, 2) / m.mass;
  return m;
}

// What is left of the radius when the outcomes above the lowest `count` lose all their mass.
Real excess(const ReferenceRow& s, std::size_t count, const Moments& kept) {
  const auto& p = s.probability;
  return s.radius * kept.mass - std::accumulate(p.begin() + count, p.end(), Real{0});
}

// The dual is the largest eta - sqrt((1 + radius) sum p max(eta - v, 0)^2). Where the outcomes
// below eta are the lowest n, with mean m and variance s, it is m - sqrt(s * excess) at eta = m +
// sqrt(s / excess). That is a lower bound when no other outcome is below eta. Every n is tried:
// where rounding takes the right one for wrong, eta is so close to the next value that one n
// further is as good.
Real worst(const Chi2&, const ReferenceRow& s) {
  if (s.radius == 0) return mean(s);
  Real best = s.value.front();
  for (std::size_t n = 1; n <= s.value.size(); ++n) {
    const Moments m = moments(s, n);
    const Real left = excess(s, n, m);
    if (left <= 0) continue;
    const Real eta = s.value.front() + (m.mean + std::sqrt(m.variance / left));
    if (n < s.value.size() && eta > s.value[n]) continue;
    best = std::max(best, s.value.front() + (m.mean - std::sqrt(m.variance * left)));
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

// Every row within the bounds is one that fills up the lowest values first, with some of its mass
// moved to higher values; so that row leaves nature the least.
Real worst(const Composed& set, const ReferenceRow& s) {
  ReferenceRow lowest = s;
  Real left = 1 - std::accumulate(s.lower.begin(), s.lower.end(), Real{0});
  for (std::size_t i = 0; i < s.value.size(); ++i) {
    const Real given = std::min(std::max(left, Real{0}), s.upper[i] - s.lower[i]);
    left -= given;
    lowest.probability[i] = s.lower[i] + given;
  }
  const auto possible = std::count_if(lowest.probability.begin(), lowest.probability.end(),
                                      [](Real p) { return p > 0; });
  const auto keep_possible = [&](std::vector<Real>& numbers) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (lowest.probability[i] > 0) numbers[kept++] = numbers[i];
    numbers.resize(possible);
  };
  const Real low = s.value.front();
  keep_possible(lowest.value);
  keep_possible(lowest.probability);
  switch (set.ball) {
    case Composed::Ball::chi2:
      return worst(Chi2{}, lowest);
    case Composed::Ball::kl:
      return worst(KL{}, lowest);
    default:  // listed outcomes are in the reach of total variation, whatever their bounds
      lowest.floor = std::min(low, lowest.floor.value_or(low));
      return worst(TV{}, lowest);
  }
}

}  // namespace

long double reference_radius(const Uncertainty& set, std::int64_t row) {
  return std::visit(
      [&](const auto& kind) -> Real {
        if constexpr (requires { kind.radius; }) return kind.radius.of(row);
        if constexpr (requires { kind.temperature; }) return kind.temperature;
        return 0;
      },
      set);
}

long double reference_worst_case(const Uncertainty& set, const ReferenceRow& row) {
  return std::visit([s = sorted(row)](const auto& kind) { return worst(kind, s); }, set);
}

}  // namespace redoubt::internal
