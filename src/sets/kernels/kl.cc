#include "numerics/vector_math.h"
#include "sets/kernels/block.h"

// sum P log(P / p) <= radius. The optimal P is p exp(x), normalised, with x = -b y, where y is the
// value centred at the nominal mean and scaled by the range, and b is such that the divergence K of
// P from p is the radius. With
//     L = log sum p exp(x),   c1, c2, c3, c4 the cumulants of x under P:   K = c1 - L,   dK /
//     dlog(b) = c2,
// and the worst case is the maximum over b of mean - range (radius + L) / b. Two things make this
// fast and safe. The maximum is flat, so an error in b enters the value squared. And the cumulants
// give L around b as a Taylor series: one evaluation with b within a few per cent of its optimum
// yields the value to 1e-12 of the range, and a bound on the rest of the series proves it.
namespace redoubt::REDOUBT_TARGET {
namespace {

constexpr double kTolerance = 1e-12;  // of the range

// Beyond this b, exp(x) could overflow, and x is taken relative to the lowest value instead of the
// mean.
constexpr double kLargestCentred = 600;

// Values are taken relative to the first outcome's, so that rounding is relative to their range and
// not to their size.
struct Shape {
  Lanes origin, low, range, per_range, mean;  // low and mean relative to origin
};

struct Evaluation {
  Lanes log_mass;  // L
  Lanes c1, c2, c3, c4;
  Lanes divergence;  // K
};

[[gnu::always_inline]] inline Evaluation select(Mask yes, const Evaluation& a,
                                                const Evaluation& b) {
  return {select(yes, a.log_mass, b.log_mass),
          select(yes, a.c1, b.c1),
          select(yes, a.c2, b.c2),
          select(yes, a.c3, b.c3),
          select(yes, a.c4, b.c4),
          select(yes, a.divergence, b.divergence)};
}

struct PowerSums {
  Lanes s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0;  // of weight * x^n
};

[[gnu::always_inline]] inline Evaluation evaluation(const PowerSums& s, Lanes mass,
                                                    Lanes log_mass) {
  const Lanes per_mass = 1.0 / mass;
  const Lanes m1 = s.s1 * per_mass, m2 = s.s2 * per_mass, m3 = s.s3 * per_mass,
              m4 = s.s4 * per_mass;
  const Lanes square = m1 * m1;
  const Lanes c2 = m2 - square;
  const Lanes c3 = m3 - m1 * (3.0 * m2 - 2.0 * square);
  const Lanes c4 = m4 - m1 * (4.0 * m3 - m1 * (6.0 * m2 - 3.0 * square)) - 3.0 * c2 * c2;
  return {log_mass, m1, c2, c3, c4, m1 - log_mass};
}

// Centred at the mean, sum p x = 0, so expm1 can stand for exp in the sums of order 0 and 1:
// nothing cancels, however small b.
[[gnu::always_inline]] inline Evaluation evaluate_centred(const NominalRow& row, const Block& v,
                                                          const Shape& shape, Lanes b) {
  const Lanes slope = -b * shape.per_range, level = -slope * shape.mean;
  PowerSums s;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = (v[i] - shape.origin) * slope + level;
    const Lanes change = row.probability[i] * expm1(x);
    const Lanes x2 = x * x, second = (change + row.probability[i]) * x2;
    s.s0 += change;
    s.s1 += change * x;
    s.s2 += second;
    s.s3 += second * x;
    s.s4 += second * x2;
  }
  return evaluation(s, 1.0 + s.s0, log1p(s.s0));
}

// Relative to the lowest value, x <= 0 and nothing overflows, but the log of the mass is only as
// accurate as its own size.
[[gnu::always_inline]] inline Evaluation evaluate_from_low(const NominalRow& row, const Block& v,
                                                           const Shape& shape, Lanes b) {
  const Lanes slope = -b * shape.per_range;
  PowerSums s;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = ((v[i] - shape.origin) - shape.low) * slope;
    const Lanes weight = row.probability[i] * exp(x);
    const Lanes x2 = x * x;
    s.s0 += weight;
    s.s1 += weight * x;
    s.s2 += weight * x2;
    s.s3 += weight * x2 * x;
    s.s4 += weight * x2 * x2;
  }
  Evaluation e = evaluation(s, s.s0, log(s.s0));
  const Lanes shift = (shape.low - shape.mean) * slope;  // back to x relative to the mean
  e.log_mass += shift;
  e.c1 += shift;
  return e;
}

struct Estimate {
  Lanes drop;  // of the worst case below the mean, in units of the range
  Lanes b;     // where it is attained
  Mask certified;
};

// The optimum near b, from the Taylor series of L there, and whether it is proved to be within the
// tolerance.
[[gnu::always_inline]] inline Estimate extrapolate(const Evaluation& e, double radius, Lanes b) {
  const Lanes miss = radius - e.divergence;
  const Lanes per_c2 = 1.0 / e.c2;
  // With b (1 + d), the divergence is K + c2 d + (c2 + c3) d^2 / 2 + (2 c3 + c4) d^3 / 6 + c4 d^4 /
  // 8 + ...
  const Lanes u = miss * per_c2;
  const Lanes half = 0.5 * (e.c2 + e.c3), sixth = (2.0 * e.c3 + e.c4) * (1.0 / 6);
  const Lanes curve = half * per_c2, twist = sixth * per_c2;
  const Lanes d = u - u * u * (curve - u * (2.0 * curve * curve - twist));
  const Lanes left = miss - d * (e.c2 + d * (half + d * (sixth + d * 0.125 * e.c4)));
  const Lanes series =
      d * (e.c1 + d * (0.5 * e.c2 + d * ((1.0 / 6) * e.c3 + d * (1.0 / 24) * e.c4)));
  const Lanes per_b = 1.0 / (b * (1.0 + d));
  // x spans an interval of length b, hence |c5| <= b^3 c2, and c2 grows at most by exp(b |d|) on
  // the way to the optimum. The second term is the loss from stopping where the divergence is off
  // by `left`.
  const Lanes size = abs(d), square = d * d;
  const Lanes rest =
      (2.0 / 120) * b * b * b * e.c2 * square * square * size + 2.0 * left * left * per_c2;
  const Mask near = (max(b, 4.0) * size <= 0.5) & (abs(miss) <= 0.5 * radius);
  return {(radius + e.log_mass + series) * per_b, b * (1.0 + d),
          near & (rest * per_b <= kTolerance)};
}

// b from the nominal cumulants k2 .. k5 of -y: log(b / q) as a power series in q = sqrt(2 radius /
// k2).
[[gnu::always_inline]] inline Lanes first_guess(double radius, const PowerSums& m) {
  const Lanes k2 = m.s0, k3 = m.s1, k4 = m.s2 - 3.0 * k2 * k2, k5 = m.s3 - 10.0 * k2 * k3;
  const Lanes per_k2 = 1.0 / k2;
  const Lanes q = sqrt(2.0 * radius * per_k2);
  // K = k2 b^2 / 2 (1 + a1 b + a2 b^2 + a3 b^3), so log q = log b + l1 b + l2 b^2 + l3 b^3.
  const Lanes a1 = (2.0 / 3) * k3 * per_k2, a2 = 0.25 * k4 * per_k2, a3 = (1.0 / 15) * k5 * per_k2;
  const Lanes l1 = 0.5 * a1, l2 = 0.5 * (a2 - 0.5 * a1 * a1),
              l3 = 0.5 * (a3 - a1 * (a2 - (1.0 / 3) * a1 * a1));
  const Lanes e2 = l1 * l1 - l2, e3 = -l1 * (e2 + 0.5 * l1 * l1) + 2.0 * l1 * l2 - l3;
  const Lanes exponent = q * (-l1 + q * (e2 + q * e3));
  const Lanes b = q * exp(min(max(exponent, -2.0), 2.0));
  return min(max(b, 1e-15), kLargestCentred);
}

// A step towards K(b) = radius by the inverse Taylor series of sqrt(-k log(1 - K / k)), where k is
// the divergence of a row that has collapsed to its lowest value: nearly linear in b from end to
// end. Meaningless far from the solution; the caller brackets.
[[gnu::always_inline]] inline Lanes next_b(const Evaluation& e, double radius, Lanes limit,
                                           Lanes b) {
  const Lanes k1 = e.c2, k2 = e.c2 + e.c3, k3 = 2.0 * e.c3 + e.c4;
  const Lanes r = 1.0 / (limit - e.divergence), scale = limit * r;
  const Lanes g1 = k1 * scale, g2 = scale * (k2 + k1 * k1 * r),
              g3 = scale * (k3 + k1 * r * (3.0 * k2 + 2.0 * k1 * k1 * r));
  const Lanes f = sqrt(-limit * log1p(-e.divergence / limit));
  const Lanes target = sqrt(-limit * log1p(-radius / limit));
  const Lanes per_2f = 0.5 / f;
  const Lanes f1 = g1 * per_2f, f2 = (g2 - 2.0 * f1 * f1) * per_2f,
              f3 = (g3 - 6.0 * f1 * f2) * per_2f;
  const Lanes per_f1 = 1.0 / f1;
  const Lanes w = (target - f) * per_f1;
  const Lanes a = 0.5 * f2 * per_f1, c = (1.0 / 6) * f3 * per_f1;
  return b * (1.0 + w * (1.0 - w * (a - w * (2.0 * a * a - c))));
}

// Bracketed iteration for the lanes in `todo`, each stopping by itself, from a first evaluation
// that did not suffice.
[[gnu::noinline]] Estimate iterate(const NominalRow& row, const Block& v, const Shape& shape,
                                   Lanes at_low, Evaluation e, Estimate found, Lanes b, Mask todo,
                                   Work& work) {
  const Lanes limit = -log(at_low);
  Lanes lower = 0.0, upper = __builtin_inf();
  for (int iteration = 0; iteration < 100; ++iteration) {
    const Mask below = e.divergence < row.radius;
    lower = select(below, b, lower);
    upper = select(below, upper, b);
    const Lanes step = next_b(e, row.radius, limit, b);
    const Lanes middle =
        select(lower == 0.0, 0.25 * b,
               select(upper < __builtin_inf(), sqrt(lower) * sqrt(upper), 4.0 * b));
    const Mask sane = (lower < step) & (step < upper) & (step < 64.0 * b);
    b = iteration < 12 ? select(sane, step, middle) : middle;

    ++work.evaluations;
    const Mask far = kLargestCentred < b;
    e = evaluate_centred(row, v, shape, min(b, kLargestCentred));
    if (any(far & todo)) e = select(far, evaluate_from_low(row, v, shape, b), e);
    const Estimate here = extrapolate(e, row.radius, b);
    // Where rounding is all that is left the bracket closes without a certificate; any b gives a
    // lower bound.
    const Mask closed = upper <= lower * (1 + 4e-15);
    const Mask stops = todo & (here.certified | closed);
    found.drop =
        select(stops, select(here.certified, here.drop, (row.radius + e.log_mass) / b), found.drop);
    found.b = select(stops, select(here.certified, here.b, b), found.b);
    todo = todo & !stops;
    if (!any(todo)) break;
  }
  return found;
}

void write_minimiser(const NominalRow& row, const Block& v, const Shape& shape, Lanes b,
                     Mask collapsed, const Minimiser& minimiser) {
  put_all_on(shape.origin + shape.low, row, v, minimiser);
  const Lanes slope = -b * shape.per_range;
  Lanes mass = 0.0;
  for (int i = 0; i < v.outcomes; ++i)
    mass += row.probability[i] * exp(((v[i] - shape.origin) - shape.low) * slope);
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = ((v[i] - shape.origin) - shape.low) * slope;
    minimiser.set(i, select(collapsed, minimiser.get(i), row.probability[i] * exp(x) / mass));
  }
}

Lanes solve(const NominalRow& row, double collapse_mass, const Block& v, Work& work,
            const Minimiser* minimiser) {
  const Lanes origin = v[0];
  Lanes low = origin, high = origin, mean = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    low = min(v[i], low);
    high = max(v[i], high);
    mean += row.probability[i] * (v[i] - origin);
  }
  const Lanes range = high - low;
  const Shape shape{origin, low - origin, range, 1.0 / range, mean};

  PowerSums moments;  // of y^2, y^3, y^4, y^5
  Lanes at_low = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes y = (mean - (v[i] - origin)) * shape.per_range;
    const Lanes y2 = y * y, second = row.probability[i] * y2, fourth = second * y2;
    moments.s0 += second;
    moments.s1 += second * y;
    moments.s2 += fourth;
    moments.s3 += fourth * y;
    at_low += select(v[i] == low, row.probability[i], 0.0);
  }
  // Nature can afford to put everything on the lowest value. This includes lanes that are constant.
  const Mask collapsed = (at_low >= collapse_mass) | (low == high);
  if (all(collapsed) && minimiser == nullptr) return low;

  ++work.blocks;
  ++work.evaluations;
  const Lanes b = first_guess(row.radius, moments);
  const Evaluation e = evaluate_centred(row, v, shape, b);
  Estimate found = extrapolate(e, row.radius, b);
  const Mask todo = !(collapsed | found.certified);
  if (any(todo)) found = iterate(row, v, shape, at_low, e, found, b, todo, work);
  if (minimiser != nullptr) write_minimiser(row, v, shape, found.b, collapsed, *minimiser);
  return select(collapsed, low, max(origin + (mean - range * found.drop), low));
}

}  // namespace

void kl(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
        double* minimiser) {
  if (row.radius == 0) return nominal(row, values, scratch, worst, minimiser);
  const double collapse_mass = __builtin_exp(-row.radius);
  for_each_block(row, values, worst, minimiser, [&](const Block& v, const Minimiser* place) {
    return solve(row, collapse_mass, v, scratch.work, place);
  });
}

}  // namespace redoubt::REDOUBT_TARGET
