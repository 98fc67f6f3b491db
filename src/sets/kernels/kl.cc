#include "numerics/vector_math.h"
#include "sets/kernels/block.h"

// sum P log(P / p) <= radius. The optimal P is p exp(x), normalised, with x = -b y, where y is the
// value centred at the nominal mean and scaled by the range, and b is such that the divergence K of
// P from p is the radius. With c1 .. c4 the cumulants of x under P,
//     L = log sum p exp(x),     K = c1 - L,     dK / dlog(b) = c2,
// and the worst case is the maximum over b of mean - range (radius + L) / b. Two things make this
// fast and safe. The maximum is flat, so an error in b enters the value squared. And the cumulants
// give L around b as a Taylor series: one evaluation with b within a few per cent of its optimum
// yields the value to 1e-12 of the range, and a bound on the rest of the series proves it.
namespace redoubt::REDOUBT_TARGET {
namespace {

constexpr double kTolerance = 1e-12;  // of the range

// Up to this b, x is centred at the mean, and sums of exp(x) and their products stay far from
// overflow. Beyond it, x is taken relative to the lowest value.
constexpr double kLargestCentred = 64;

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

[[gnu::always_inline]] inline Evaluation select(Mask yes, const Evaluation& a,
                                                const Evaluation& b) {
  return {select(yes, a.log_mass, b.log_mass),
          select(yes, a.c1, b.c1),
          select(yes, a.c2, b.c2),
          select(yes, a.c3, b.c3),
          select(yes, a.c4, b.c4),
          select(yes, a.per_c2, b.per_c2),
          select(yes, a.divergence, b.divergence)};
}

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

// Centred at the mean, sum p x = 0, so expm1 can stand for exp in the sums of order 0 and 1:
// nothing cancels, however small b. Above that, the moments are those of the nominal row plus the
// change. s0 is the mass less one.
[[gnu::always_inline]] inline PowerSums centred_sums(const NominalRow& row, const Block& v,
                                                     const Shape& shape, Lanes b) {
  const Lanes slope = -b * shape.unit, level = -slope * shape.mean;
  const Lanes b2 = b * b;
  PowerSums s{0.0, 0.0, shape.m2 * b2, shape.m3 * b2 * b, shape.m4 * b2 * b2};
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = (v[i] - shape.origin) * slope + level;
    const Lanes change = row.probability[i] * expm1(x);
    const Lanes x2 = x * x, second = change * x2;
    s.s0 += change;
    s.s1 += change * x;
    s.s2 += second;
    s.s3 += second * x;
    s.s4 += second * x2;
  }
  return s;
}

// One division for all three that are needed. It may under- or overflow when c2 is tiny; then
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

[[gnu::always_inline]] inline Evaluation careful_evaluation(const PowerSums& s) {
  const Lanes per_mass = 1.0 / (1.0 + s.s0), m1 = s.s1 * per_mass;
  return evaluation(s, per_mass, 1.0 / (s.s2 * per_mass - m1 * m1), log1p(s.s0));
}

// Relative to the lowest value, x <= 0 and nothing overflows, but the log of the mass is only as
// accurate as its own size.
[[gnu::always_inline]] inline Evaluation evaluation_from_low(const NominalRow& row, const Block& v,
                                                             const Shape& shape, Lanes b) {
  const Lanes slope = -b * shape.unit;
  PowerSums s{0.0, 0.0, 0.0, 0.0, 0.0};
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
  const Lanes per_mass = 1.0 / s.s0, m1 = s.s1 * per_mass;
  Evaluation e = evaluation(s, per_mass, 1.0 / (s.s2 * per_mass - m1 * m1), log(s.s0));
  const Lanes shift = (shape.low - shape.mean) * slope;  // back to x relative to the mean
  e.log_mass += shift;
  e.c1 += shift;
  return e;
}

struct Estimate {
  Lanes drop;  // of the worst case below the mean, times the unit
  Lanes b;     // where it is attained
  Mask certified;
};

// The optimum near b, from the Taylor series of L there, and whether it is proved to be within the
// tolerance.
[[gnu::always_inline]] inline Estimate extrapolate(const Evaluation& e, double radius, Lanes b,
                                                   Lanes width) {
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
  // x lies in an interval of length span, hence |c5| <= span^3 c2, and on the way to the optimum c2
  // grows at most by the factor exp(span |d|) <= 1.7. The second term is the loss from stopping
  // where the divergence is off by `left`.
  const Lanes size = abs(d), square = d * d, span = b * width;
  const Lanes rest = (2.0 / 120) * span * span * span * e.c2 * (square * square * size) +
                     2.0 * left * left * e.per_c2;
  const Mask near = (max(span, 4.0) * size <= 0.5) & (abs(miss) <= 0.5 * radius);
  return {(radius + e.log_mass + series) * per_best, best,
          near & (rest * per_best <= kTolerance * width)};
}

// b from the nominal cumulants of -y: log(b / q) as a power series in q = sqrt(2 radius / k2).
[[gnu::always_inline]] inline Lanes first_guess(double radius, const Shape& shape) {
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
  const Lanes b = q * exp(min(max(exponent, -2.0), 2.0));
  return min(max(b, 1e-15), kLargestCentred);
}

// Newton's idea on sqrt(-k log(1 - K / k)), which is nearly linear in b from end to end: k is the
// divergence of a row that has collapsed to its lowest value. The step is the inverse Taylor series
// to third order.
struct Stepper {
  double radius;
  Lanes limit, per_limit, target;

  Stepper(double r, Lanes at_low) : radius(r), limit(-log(at_low)), per_limit(1.0 / limit) {
    target = sqrt(-limit * log1p(-radius * per_limit));
  }

  [[gnu::always_inline]] Lanes next(const Evaluation& e, Lanes b) const {
    const Lanes k1 = e.c2, k2 = e.c2 + e.c3, k3 = 2.0 * e.c3 + e.c4;
    const Lanes room = limit - e.divergence, scale = 1.0 / (room * per_limit),
                r = scale * per_limit;
    const Lanes g1 = k1 * scale, g2 = scale * (k2 + k1 * k1 * r),
                g3 = scale * (k3 + k1 * r * (3.0 * k2 + 2.0 * k1 * k1 * r));
    const Lanes f = sqrt(-limit * log1p(-e.divergence * per_limit)), per_2f = 0.5 / f;
    const Lanes f1 = g1 * per_2f, f2 = (g2 - 2.0 * f1 * f1) * per_2f,
                f3 = (g3 - 6.0 * f1 * f2) * per_2f;
    const Lanes per_f1 = 2.0 * f * e.per_c2 * room * per_limit;
    const Lanes w = (target - f) * per_f1;
    const Lanes a = 0.5 * f2 * per_f1, c = (1.0 / 6) * f3 * per_f1;
    return b * (1.0 + w * (1.0 - w * (a - w * (2.0 * a * a - c))));
  }
};

// One block on its way through the stages.
struct Task {
  Block v;
  Shape shape;
  Lanes low;
  Lanes b;  // where to evaluate next
  PowerSums sums;
  Estimate found;  // of the lanes that are finished
  Mask todo;       // lanes that are not
  Mask collapsed;  // lanes in which nature can afford to put everything on the lowest value
};

[[gnu::always_inline]] inline void measure(const NominalRow& row, Task& task) {
  const Block& v = task.v;
  const Lanes origin = v[0];
  Lanes low = origin, high = origin, mean = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    low = min(v[i], low);
    high = max(v[i], high);
    mean += row.probability[i] * (v[i] - origin);
  }
  const Lanes range = high - low, unit = inverse_power_below(range), level = mean * unit;
  Lanes m2 = 0.0, m3 = 0.0, m4 = 0.0, m5 = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes y = level - (v[i] - origin) * unit;
    const Lanes y2 = y * y, second = row.probability[i] * y2, fourth = second * y2;
    m2 += second;
    m3 += second * y;
    m4 += fourth;
    m5 += fourth * y;
  }
  task.shape = {origin, low - origin, mean, unit, power_below(range), range * unit, m2, m3, m4, m5};
  task.low = low;
  task.collapsed = low == high;
  task.todo = !task.collapsed;
  task.found = {0.0, 1.0, task.collapsed};
}

// Takes over what the sums at task.b certify, and aims the others at the optimum that the series
// suggests.
[[gnu::always_inline]] inline void assess(const NominalRow& row, double collapse_mass, Task& task) {
  const Estimate here =
      extrapolate(evaluation_with_one_division(task.sums), row.radius, task.b, task.shape.width);
  task.found.drop = select(task.todo, here.drop, task.found.drop);
  task.found.b = select(task.todo, here.b, task.found.b);
  task.todo = task.todo & !here.certified;
  if (!any(task.todo)) return;
  const Lanes at_low = mass_at(task.low, row, task.v);
  task.collapsed = task.collapsed | (task.todo & (at_low >= collapse_mass));
  task.todo = task.todo & !task.collapsed;
  task.b = min(min(max(here.b, 0.25 * task.b), 4.0 * task.b), kLargestCentred);
}

[[gnu::always_inline]] inline Lanes worst_of(const Task& task) {
  const Shape& shape = task.shape;
  const Lanes worst = shape.origin + (shape.mean - task.found.drop * shape.per_unit);
  return select(task.collapsed, task.low, max(worst, task.low));
}

[[gnu::always_inline]] inline Evaluation evaluate_at(const NominalRow& row, const Task& task,
                                                     Lanes b) {
  const Mask far = kLargestCentred < b;
  const Evaluation near =
      careful_evaluation(centred_sums(row, task.v, task.shape, min(b, kLargestCentred)));
  if (!any(far)) return near;
  return select(far, evaluation_from_low(row, task.v, task.shape, b), near);
}

// Bracketed iteration for the lanes that are left, each stopping by itself: rows on which the
// series keeps failing.
[[gnu::noinline]] void persist(const NominalRow& row, Task& task, Work& work) {
  const Stepper stepper(row.radius, mass_at(task.low, row, task.v));
  Lanes lower = 0.0, upper = __builtin_inf();
  for (int iteration = 0; iteration < 100 && any(task.todo); ++iteration) {
    ++work.evaluations;
    const Lanes b = task.b;
    const Evaluation e = evaluate_at(row, task, b);
    const Estimate here = extrapolate(e, row.radius, b, task.shape.width);
    const Mask below = e.divergence < row.radius;
    lower = select(below, b, lower);
    upper = select(below, upper, b);
    // Where only rounding is left the bracket closes without a certificate. Any b gives a lower
    // bound.
    const Mask closed = upper <= lower * (1 + 4e-15);
    const Mask stops = task.todo & (here.certified | closed);
    const Lanes drop = select(here.certified, here.drop, (row.radius + e.log_mass) / b);
    task.found.drop = select(stops, drop, task.found.drop);
    task.found.b = select(stops, select(here.certified, here.b, b), task.found.b);
    task.todo = task.todo & !stops;

    const Lanes step = stepper.next(e, b);
    const Mask sane = (lower < step) & (step < upper) & (step < 64.0 * b);
    const Lanes middle = select(upper < __builtin_inf(), sqrt(lower) * sqrt(upper), 4.0 * b);
    const Lanes bisected = select(lower == 0.0, 0.25 * b, middle);
    task.b = iteration < 12 ? select(sane, step, bisected) : bisected;
  }
}

void write_minimiser(const NominalRow& row, const Task& task, const Minimiser& minimiser) {
  const Shape& shape = task.shape;
  const Block& v = task.v;
  put_all_on(task.low, row, v, minimiser);
  // The value is insensitive to b, P is not: one more evaluation makes b as exact as the value.
  const Lanes b = task.found.b;
  const Estimate again = extrapolate(evaluate_at(row, task, b), row.radius, b, shape.width);
  const Lanes slope = -select(again.certified, again.b, b) * shape.unit;
  Lanes mass = 0.0;
  for (int i = 0; i < v.outcomes; ++i)
    mass += row.probability[i] * exp(((v[i] - shape.origin) - shape.low) * slope);
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = ((v[i] - shape.origin) - shape.low) * slope;
    const Lanes p = row.probability[i] * exp(x) / mass;
    minimiser.set(i, select(task.collapsed, minimiser.get(i), p));
  }
  minimiser.set(v.outcomes, 0.0);
}

[[gnu::always_inline]] inline void solve(const NominalRow& row, Task* tasks, int count,
                                         Work& work) {
  const double collapse_mass = __builtin_exp(-row.radius);
  for (int i = 0; i < count; ++i) measure(row, tasks[i]);
  Task* open[kTogether];
  int left = 0;
  for (int i = 0; i < count; ++i)
    if (any(tasks[i].todo)) open[left++] = &tasks[i];
  work.blocks += left;
  for (int i = 0; i < left; ++i) open[i]->b = first_guess(row.radius, open[i]->shape);
  constexpr int kRounds =
      3;  // the series rarely needs two, and what it cannot do in three it never can
  for (int round = 0; round < kRounds && left > 0; ++round) {
    work.evaluations += left;
    for (int i = 0; i < left; ++i)
      open[i]->sums = centred_sums(row, open[i]->v, open[i]->shape, open[i]->b);
    for (int i = 0; i < left; ++i) assess(row, collapse_mass, *open[i]);
    int still = 0;
    for (int i = 0; i < left; ++i)
      if (any(open[i]->todo)) open[still++] = open[i];
    left = still;
  }
  for (int i = 0; i < left; ++i) persist(row, *open[i], work);
}

}  // namespace

void kl(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
        double* minimiser) {
  if (row.radius == 0) return nominal(row, values, scratch, worst, minimiser);
  solve_together<Task>(
      row, values, worst, minimiser,
      [&](Task* tasks, int count) { solve(row, tasks, count, scratch.work); },
      [](const Task& task) { return worst_of(task); },
      [&](const Task& task, const Minimiser& place) { write_minimiser(row, task, place); });
}

}  // namespace redoubt::REDOUBT_TARGET
