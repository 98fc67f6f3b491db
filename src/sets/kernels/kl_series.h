#pragma once

#include "numerics/vector_math.h"
#include "sets/kernels/block.h"

// The optimal P of a kl row is p exp(x), normalised, with x = -b y, where y is the value centred at
// the nominal mean and scaled by the range, and b is such that the divergence K of P from p is the
// radius. With c1 .. c4 the cumulants of x under P,
//     L = log sum p exp(x),     K = c1 - L,     dK / dlog(b) = c2,
// and the worst case is the maximum over b of mean - range (radius + L) / b. Two things make this
// fast and safe. The maximum is flat, so an error in b enters the value squared. And the cumulants
// give L around b as a Taylor series: one evaluation with b within a few per cent of its optimum
// yields the value to 1e-12 of the range, and a bound on the rest of the series proves it.
namespace redoubt::internal::REDOUBT_TARGET {

// Values are taken relative to the first outcome's, so that rounding is relative to their range and
// not to their size, and times a power of two that brings the range into [1, 2).
struct Shape {
  Lanes origin, low, mean;      // low and mean relative to origin
  Lanes unit, per_unit, width;  // per_unit = 1 / unit, width = range * unit
  Lanes m2, m3, m4, m5;         // moments of -y about the mean, y in units
};

struct PowerSums {
  Lanes s0, s1, s2, s3, s4;  // of weight * x^n
};

struct Evaluation {
  Lanes log_mass;                // L
  Lanes c1, c2, c3, c4, per_c2;  // per_c2 = 1 / c2
  Lanes divergence;              // K
};

[[gnu::always_inline]] inline Evaluation evaluation(const PowerSums& s, Lanes per_mass,
                                                    Lanes per_c2, Lanes log_mass) {
  const Lanes m1 = s.s1 * per_mass, m2 = s.s2 * per_mass, m3 = s.s3 * per_mass,
              m4 = s.s4 * per_mass;
  const Lanes square = m1 * m1;
  const Lanes c2 = m2 - square;
  const Lanes c3 = m3 - m1 * (3.0 * m2 - 2.0 * square);
  const Lanes c4 = m4 - m1 * (4.0 * m3 - m1 * (6.0 * m2 - 3.0 * square)) - 3.0 * c2 * c2;
  return {log_mass, m1, c2, c3, c4, per_c2, m1 - log_mass};
}

// Up to this b, x is centred at the mean, and sums of exp(x) and their products stay far from
// overflow. Beyond it, x is taken relative to the lowest value.
inline constexpr double kLargestCentred = 64;

// Centred at the mean, sum p x = 0, so expm1 can stand for exp in the sums of order 0 and 1:
// nothing cancels, however small b. Above that, the moments are those of the nominal row plus the
// change. s0 is the mass less one.
template <class Rows>
[[gnu::always_inline]] inline PowerSums centred_sums(const Rows& rows, const Block& v,
                                                     const Shape& shape, Lanes b) {
  const Lanes slope = -b * shape.unit, level = -slope * shape.mean;
  const Lanes b2 = b * b;
  PowerSums s{0.0, 0.0, shape.m2 * b2, shape.m3 * b2 * b, shape.m4 * b2 * b2};
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = (v[i] - shape.origin) * slope + level;
    const Lanes change = rows.probability(v, i) * expm1(x);
    const Lanes x2 = x * x, second = change * x2;
    s.s0 += change;
    s.s1 += change * x;
    s.s2 += second;
    s.s3 += second * x;
    s.s4 += second * x2;
  }
  return s;
}

// One partition for all three that are needed. It may under- or overflow when c2 is tiny; then
// nothing is certified.
[[gnu::always_inline]] inline Evaluation evaluation_with_one_division(const PowerSums& s) {
  const ReducedLogarithm log = reduce_log1p(s.s0);
  const Lanes mass = 1.0 + s.s0, bottom = 2.0 + log.fraction;
  const Lanes spread = s.s2 * mass - s.s1 * s.s1;  // c2 * mass^2
  const Lanes mass_bottom = mass * bottom, mass_spread = mass * spread;
  const Lanes r = 1.0 / (mass_bottom * spread);
  return evaluation(s, r * bottom * spread, r * mass_bottom * mass * mass,
                    assemble_log(log.count, log.fraction * (r * mass_spread)));
}

// The same at any b. Relative to the lowest value x <= 0 and nothing overflows, but the log of the
// mass is only as accurate as its own size; `one` is what expm1 and log1p stand for in lanes that
// are centred, and zero where exp and log take their place.
template <class Rows>
[[gnu::noinline]] Evaluation evaluate_anywhere(const Rows& rows, const Block& v, const Shape& shape,
                                               Lanes b) {
  const Mask centred = b <= kLargestCentred;
  const Lanes one = select(centred, 1.0, 0.0);
  const Lanes slope = -b * shape.unit, level = -slope * select(centred, shape.mean, shape.low);
  const Lanes b2 = select(centred, b * b, 0.0);
  PowerSums s{0.0, 0.0, shape.m2 * b2, shape.m3 * b2 * b, shape.m4 * b2 * b2};
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = (v[i] - shape.origin) * slope + level;
    const Lanes rounded = rounded_binary_exponent(x), power = power_of_two(rounded);
    const Lanes factor = expm1_of_rest(x, rounded) * power + (power - one);
    const Lanes weight = rows.probability(v, i) * select(x < kSmallestExponent, -one, factor);
    const Lanes x2 = x * x, second = weight * x2;
    s.s0 += weight;
    s.s1 += weight * x;
    s.s2 += second;
    s.s3 += second * x;
    s.s4 += second * x2;
  }
  const Lanes mass = one + s.s0, per_mass = 1.0 / mass, m1 = s.s1 * per_mass;
  ReducedLogarithm log = reduce_log(mass);
  log.fraction = select(log.count == 0.0, s.s0 - (1.0 - one), log.fraction);
  Evaluation e = evaluation(s, per_mass, 1.0 / (s.s2 * per_mass - m1 * m1),
                            assemble_log(log.count, log.fraction / (2.0 + log.fraction)));
  const Lanes shift = select(centred, 0.0, (shape.low - shape.mean) * slope);
  e.log_mass += shift;
  e.c1 += shift;
  return e;
}

struct Estimate {
  Lanes drop;  // of the worst case below the mean, times the unit
  Lanes b;     // where it is attained
  Mask certified;
};

// All x lie in an interval of this length.
[[gnu::always_inline]] inline Lanes full_span(const Shape& shape, Lanes b) {
  return b * shape.width;
}

// The same without the values so high that x is below c1 - 40 - K. They do not count for the rest
// of the series: P is p exp(x - c1 + K), so they add less than 1e-8 to c5.
[[gnu::always_inline]] inline Lanes span_that_counts(const Evaluation& e, const Shape& shape,
                                                     Lanes b) {
  const Lanes at_low = b * (shape.mean - shape.low) * shape.unit;
  return min(full_span(shape, b), (at_low - e.c1) + (40.0 + max(e.divergence, 0.0)));
}

// The optimum near b, from the Taylor series of L there, and whether it is proved to be within the
// tolerance.
template <class Number>
[[gnu::always_inline]] inline Estimate extrapolate(const Evaluation& e, Number radius, Lanes b,
                                                   Lanes width, Lanes span) {
  constexpr double kTolerance = 1e-12;  // of the range
  const Lanes miss = radius - e.divergence;
  // At b (1 + d) the divergence is, up to terms with c5,
  //     K + c2 d + (c2 + c3) d^2 / 2 + (2 c3 + c4) d^3 / 6 + c4 d^4 / 8.
  const Lanes u = miss * e.per_c2;
  const Lanes half = 0.5 * (e.c2 + e.c3), sixth = (2.0 * e.c3 + e.c4) * (1.0 / 6);
  const Lanes curve = half * e.per_c2, twist = sixth * e.per_c2;
  const Lanes d = u - u * u * (curve - u * (2.0 * curve * curve - twist));
  const Lanes left = miss - d * (e.c2 + d * (half + d * (sixth + d * 0.125 * e.c4)));
  const Lanes series =
      d * (e.c1 + d * (0.5 * e.c2 + d * ((1.0 / 6) * e.c3 + d * (1.0 / 24) * e.c4)));
  const Lanes best = b * (1.0 + d), per_best = 1.0 / best;
  // |c5| <= span^3 c2, and on the way to the optimum c2 grows at most by the factor exp(span |d|)
  // <= 1.7. The second term is the loss from stopping where the divergence is off by `left`.
  const Lanes size = abs(d), square = d * d;
  const Lanes rest = (2.0 / 120) * span * span * span * e.c2 * (square * square * size) +
                     2.0 * left * left * e.per_c2;
  const Mask near = (max(span, 4.0) * size <= 0.5) & (abs(miss) <= 0.5 * radius) & (0.0 < e.c2);
  return {(radius + e.log_mass + series) * per_best, best,
          near & (rest * per_best <= kTolerance * width)};
}

}  // namespace redoubt::internal::REDOUBT_TARGET
