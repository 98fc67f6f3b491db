#include "numerics/vector_math.h"
#include "sets/kernels/block.h"

// sum P log(P / p) <= radius. The optimal P is p exp(-b y), normalised, where y is the value
// centred at the nominal mean and scaled by the range, and b is such that the divergence K(b) of P
// from p is the radius. With x = -b y and the cumulants c1, c2, c3, c4 of x under P,
//     L = log sum p exp(x),   K = c1 - L,   dK/dlog(b) = c2,
// and the worst case is the maximum over b of  mean - range (radius + L) / b.  Two things make this
// fast and safe: the maximum is flat, so an error in b enters the value squared; and the cumulants
// give L near b as a Taylor series, so one evaluation with b within a few per cent gives the value
// to 1e-12 of the range, with a bound on the rest of the series as its certificate.
namespace redoubt::REDOUBT_TARGET {
namespace {

constexpr double kTolerance = 1e-12;  // of the range
// exp(-b y) may overflow beyond this; exponents are then taken relative to the lowest value, which
// loses the accuracy for tiny radii that the centring at the mean gives, but tiny radii do not need
// such a b.
constexpr double kLargestCentred = 600;

struct Shape {
  Lanes low, range, mean, per_range;  // per_range = 1 / range, or 0
};

struct Evaluation {
  Lanes log_mass;  // L
  Lanes c1, c2, c3, c4;
  Lanes divergence;  // K
};

struct Step {
  Lanes worst;     // in units of the range, below the mean
  Lanes relative;  // how far b is from its optimum, relative to b
  Mask certified;
};

struct Sums {
  Lanes mass, s1, s2, s3, s4;  // of weight * x^n
};

[[gnu::always_inline]] inline void accumulate(Sums& s, Lanes weight, Lanes first, Lanes x) {
  const Lanes x2 = x * x;
  s.s1 += first * x;
  s.s2 += weight * x2;
  s.s3 += weight * x2 * x;
  s.s4 += weight * x2 * x2;
}

[[gnu::always_inline]] inline Evaluation cumulants(const Sums& s, Lanes mass, Lanes log_mass) {
  const Lanes per_mass = 1.0 / mass;
  const Lanes m1 = s.s1 * per_mass, m2 = s.s2 * per_mass, m3 = s.s3 * per_mass,
              m4 = s.s4 * per_mass;
  const Lanes square = m1 * m1;
  const Lanes c2 = m2 - square;
  const Lanes c3 = m3 - m1 * (3.0 * m2 - 2.0 * square);
  const Lanes c4 = m4 - m1 * (4.0 * m3 - m1 * (6.0 * m2 - 3.0 * square)) - 3.0 * c2 * c2;
  return {log_mass, m1, c2, c3, c4, m1 - log_mass};
}

// Centred at the mean, sum p x = 0, so expm1 stands in for exp in the first two sums: nothing
// cancels however small b is.
[[gnu::always_inline]] inline Evaluation evaluate_centred(const NominalRow& row, const Block& v,
                                                          const Shape& shape, Lanes b) {
  const Lanes scale = b * shape.per_range;
  Sums s{0.0, 0.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = (shape.mean - v[i]) * scale;
    const Lanes change = row.probability[i] * expm1(x);
    s.mass += change;
    accumulate(s, change + row.probability[i], change, x);
  }
  return cumulants(s, 1.0 + s.mass, log1p(s.mass));
}

[[gnu::always_inline]] inline Evaluation evaluate_from_low(const NominalRow& row, const Block& v,
                                                           const Shape& shape, Lanes b) {
  const Lanes scale = b * shape.per_range;
  Sums s{0.0, 0.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = (shape.low - v[i]) * scale;
    const Lanes weight = row.probability[i] * exp(x);
    s.mass += weight;
    accumulate(s, weight, weight, x);
  }
  Evaluation e = cumulants(s, s.mass, log(s.mass));
  const Lanes centre = (shape.mean - shape.low) * scale;  // back to x relative to the mean
  e.log_mass += centre;
  e.c1 += centre;
  return e;
}

// The optimum near b from the Taylor series of L there, and whether the rest of the series is
// proved to be small.
[[gnu::always_inline]] inline Step extrapolate(const Evaluation& e, double radius, Lanes b) {
  const Lanes miss = radius - e.divergence;
  const Lanes per_c2 = 1.0 / e.c2;
  // Solves radius = K + c2 d + (c2 + c3) d^2 / 2 + (2 c3 + c4) d^3 / 6.
  const Lanes u = miss * per_c2;
  const Lanes curve = 0.5 + 0.5 * e.c3 * per_c2;
  const Lanes twist = (2.0 * e.c3 + e.c4) * per_c2 * (1.0 / 6);
  const Lanes d = u - u * u * (curve - u * (2.0 * curve * curve - twist));
  const Lanes series =
      e.log_mass + d * (e.c1 + d * (0.5 * e.c2 + d * (e.c3 * (1.0 / 6) + d * e.c4 * (1.0 / 24))));
  const Lanes worst = (radius + series) / (b * (1.0 + d));
  // |c5| <= 3.5 b^3 c2 for a distribution on an interval of length b, and c2 grows by at most exp(b
  // d) <= e on the way.
  const Lanes size = abs(u);
  const Lanes reach = max(b, 4.0) * size;
  const Lanes rest = (3.5 * 2.72 / 120) * e.c2 * b * b * size * size * size * size * size;
  return {worst, d, (rest <= kTolerance) & (reach <= 0.5) & (abs(miss) <= 0.5 * radius)};
}

// log b from the nominal cumulants of -y.
[[gnu::always_inline]] inline Lanes first_guess(const NominalRow& row, const Block& v,
                                                const Shape& shape) {
  Lanes k2 = 0.0, k3 = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = (shape.mean - v[i]) * shape.per_range;
    const Lanes weighted = row.probability[i] * x * x;
    k2 += weighted;
    k3 += weighted * x;
  }
  const Lanes b = sqrt(2.0 * row.radius / k2);
  const Lanes skew = k3 * b / (3.0 * k2);
  return b / (1.0 + max(skew, -0.5));
}

// Bracketed search, one lane at a time finishing by itself.
[[gnu::noinline]] Lanes solve_carefully(const NominalRow& row, const Block& v, const Shape& shape,
                                        Lanes b, Mask todo, Lanes* best_b, Work& work) {
  Lanes lower = 0.0, upper = __builtin_inf(), worst = 0.0;
  for (int iteration = 0; iteration < 200 && any(todo); ++iteration) {
    ++work.evaluations;
    const Mask far = b > kLargestCentred;
    Evaluation e = evaluate_centred(row, v, shape, min(b, kLargestCentred));
    if (any(far)) {
      const Evaluation f = evaluate_from_low(row, v, shape, b);
      e.log_mass = select(far, f.log_mass, e.log_mass);
      e.c1 = select(far, f.c1, e.c1);
      e.c2 = select(far, f.c2, e.c2);
      e.c3 = select(far, f.c3, e.c3);
      e.c4 = select(far, f.c4, e.c4);
      e.divergence = select(far, f.divergence, e.divergence);
    }
    const Step step = extrapolate(e, row.radius, b);
    const Mask below = e.divergence < row.radius;
    lower = select(below, b, lower);
    upper = select(below, upper, b);
    const Mask narrow = upper <= lower * (1 + 1e-15);
    const Mask stops = todo & (step.certified | narrow);
    worst = select(stops, select(step.certified, step.worst, (row.radius + e.log_mass) / b), worst);
    *best_b = select(stops, select(step.certified, b * (1.0 + step.relative), b), *best_b);
    todo = todo & !stops;

    const Lanes root = sqrt(row.radius * max(e.divergence, 0.0));
    const Lanes newton = b * (1.0 + 2.0 * (root - e.divergence) / e.c2);
    const Lanes middle =
        select(upper < __builtin_inf(), sqrt(max(lower, upper * 1e-8) * upper), 4.0 * b);
    const Mask inside = (newton > lower) & (newton < upper);
    b = select(inside & (Lanes(iteration) < 16.0), newton, middle);
  }
  return worst;
}

void write_minimiser(const NominalRow& row, const Block& v, const Shape& shape, Lanes b,
                     Mask collapsed, const Minimiser& minimiser) {
  put_all_on(shape.low, row, v, minimiser);
  const Lanes scale = b * shape.per_range;
  Lanes mass = 0.0;
  for (int i = 0; i < v.outcomes; ++i) mass += row.probability[i] * exp((shape.low - v[i]) * scale);
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes p = row.probability[i] * exp((shape.low - v[i]) * scale) / mass;
    minimiser.set(i, select(collapsed, minimiser.get(i), p));
  }
}

Lanes solve(const NominalRow& row, double collapse_mass, const Block& v, Work& work,
            const Minimiser* minimiser) {
  Lanes low = v[0], high = v[0], mean = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    low = min(v[i], low);
    high = max(v[i], high);
    mean += row.probability[i] * v[i];
  }
  Lanes at_low = 0.0;
  for (int i = 0; i < v.outcomes; ++i) at_low += select(v[i] == low, row.probability[i], 0.0);
  // Nature can afford to put everything on the lowest value.
  const Mask collapsed = at_low >= collapse_mass;
  if (all(collapsed)) {
    if (minimiser != nullptr) put_all_on(low, row, v, *minimiser);
    return low;
  }
  ++work.blocks;
  const Lanes range = high - low;
  const Shape shape{low, range, mean, select(collapsed, 0.0, 1.0 / range)};
  const Lanes guess = select(collapsed, 1.0, first_guess(row, v, shape));
  Lanes b = min(max(guess, 1e-12), kLargestCentred);
  ++work.evaluations;
  const Step step = extrapolate(evaluate_centred(row, v, shape, b), row.radius, b);
  Lanes worst = step.worst;
  const Mask todo = !(collapsed | step.certified);
  Lanes optimal_b = b * (1.0 + step.relative);
  if (any(todo)) {
    Lanes careful_b = optimal_b;
    const Lanes careful = solve_carefully(row, v, shape, b, todo, &careful_b, work);
    worst = select(todo, careful, worst);
    optimal_b = select(todo, careful_b, optimal_b);
  }
  if (minimiser != nullptr) write_minimiser(row, v, shape, optimal_b, collapsed, *minimiser);
  return select(collapsed, low, max(mean - range * worst, low));
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
