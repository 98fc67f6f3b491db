#pragma once

#include "sets/kernels/kl_series.h"

// Where to look for the b of a kl row first.
namespace redoubt::internal::REDOUBT_TARGET {

struct Guess {
  Lanes b;
  Mask told;  // the cumulants tell b; elsewhere it is no more than a number
};

// From the nominal cumulants of -y: log(b / q) as a power series in q = sqrt(2 radius / k2). That
// is right for rows whose outcomes all matter.
template <class Number>
[[gnu::always_inline]] inline Guess guess_from_cumulants(Number radius, const Shape& shape) {
  const Lanes k2 = shape.m2, k3 = shape.m3, k4 = shape.m4 - 3.0 * k2 * k2,
              k5 = shape.m5 - 10.0 * k2 * k3;
  const Lanes per_k2 = 1.0 / k2;
  const Lanes q = sqrt(2.0 * radius * per_k2);
  // K = k2 b^2 / 2 (1 + a1 b + a2 b^2 + a3 b^3), so log q = log b + l1 b + l2 b^2 + l3 b^3.
  const Lanes a1 = (2.0 / 3) * k3 * per_k2, a2 = 0.25 * k4 * per_k2, a3 = (1.0 / 15) * k5 * per_k2;
  const Lanes l1 = 0.5 * a1, l2 = 0.5 * (a2 - 0.5 * a1 * a1),
              l3 = 0.5 * (a3 - a1 * (a2 - (1.0 / 3) * a1 * a1));
  const Lanes e2 = l1 * l1 - l2, e3 = -l1 * (e2 + 0.5 * l1 * l1) + 2.0 * l1 * l2 - l3;
  const Lanes exponent = q * (-l1 + q * (e2 + q * e3));
  const Lanes b = max(q * exp(min(max(exponent, -2.0), 2.0)), 1e-15);
  return {b, (abs(exponent) <= 1.0) & (b <= kLargestCentred)};
}

// In rows with rare outcomes nature goes for one of them. If there were only outcome i and the
// rest, the divergence would be p (exp(a) (a - 1) + 1) with a = b y_i / (1 - p), as long as the
// tilted probability of i is small, hence a = 1 + W((radius / p - 1) / e) with Lambert's function
// W. This is 1 / (b y_i), and 0 for an outcome that can have all the mass.
template <class Number>
[[gnu::always_inline]] inline Lanes rare_rate(Lanes p, Number radius, Number collapse_mass) {
  constexpr double kPerE = 0.36787944117144233;
  const Lanes z = min(max(radius / p - 1.0, 0.0), 1e300) * kPerE;
  const Lanes log = log1p(z), lambert = log - log * log1p(log) / (2.0 + log);  // to two digits
  const Lanes small = sqrt(2.0 * radius / (p * (1.0 - p)));  // of outcomes that are not rare
  const Lanes a = min(1.0 + lambert, small);
  return select(p >= collapse_mass, 0.0, 1.0 / ((1.0 - p) * a));
}

// Of all outcomes: of a shared row once, when the first block needs them, with outcomes in lanes;
// of rows of lanes one by one.
struct SharedRates {
  double* values;
  bool known = false;

  [[gnu::noinline]] void find(const SharedRow& row, double collapse_mass) {
    for (int first = 0; first < row.outcomes && !known; first += kLanes) {
      alignas(64) double probability[kLanes];
      for (int i = 0; i < kLanes; ++i)
        probability[i] = first + i < row.outcomes ? row.probability.first[first + i] : 1.0;
      store(values + first, rare_rate(load(probability), row.common_radius, collapse_mass));
    }
    known = true;
  }
  [[gnu::always_inline]] double of(const SharedRow&, double, const Block&, int outcome) const {
    return values[outcome];
  }
};
struct RatesOfLane {
  [[gnu::always_inline]] void find(const RowOfLane&, Lanes) {}
  [[gnu::always_inline]] Lanes of(const RowOfLane& rows, Lanes collapse_mass, const Block& v,
                                  int outcome) const {
    return rare_rate(rows.probability(v, outcome), rows.radius(v), collapse_mass);
  }
};

// The value that nature moves away from: the mean, or below it that of an outcome with most of the
// mass, because what is left above that vanishes first.
template <class Rows>
[[gnu::always_inline]] inline Lanes bulk(const Rows& rows, const Block& v, const Shape& shape) {
  Lanes level = shape.mean;
  for (int i = rows.outcomes; i-- > 0;) {
    const Lanes value = v[i] - shape.origin;
    level = select(Lanes(rows.probability(v, i)) >= 0.5,
                   select(value == shape.low, shape.mean, min(shape.mean, value)), level);
  }
  return level;
}

// The least b among the outcomes alone: all others only add to the divergence. `fallback` where no
// outcome tells.
template <class Rows, class Rates>
[[gnu::always_inline]] inline Lanes guess_from_rates(const Rows& rows,
                                                     typename Rows::Number collapse_mass,
                                                     const Block& v, const Shape& shape,
                                                     const Rates& rates, Lanes fallback) {
  const Lanes level = bulk(rows, v, shape) * shape.unit;
  Lanes per_b = 0.0;
  for (int i = 0; i < v.outcomes; ++i)
    per_b = max((level - (v[i] - shape.origin) * shape.unit) * rates.of(rows, collapse_mass, v, i),
                per_b);
  return select(per_b > 0.0, 1.0 / per_b, fallback);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
