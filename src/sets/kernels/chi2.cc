#include "sets/kernels/block.h"

// sum (P - p)^2 / p <= radius. The optimal P is p (eta - v)_+ up to a factor, so nature's problem
// is to find which outcomes keep mass: J = {v < eta}. Given J, with its mass a, mean m and variance
// s (both relative to a),
//     eta = m + sqrt(s / excess),   worst = m - sqrt(s * excess),   excess = (1 + radius) a - 1.
// Most rows at small radii keep all their outcomes, and that is tested first.
namespace redoubt::REDOUBT_TARGET {
namespace {

struct Active {
  Lanes mass, mean, variance, excess;

  [[gnu::always_inline]] Lanes width() const { return sqrt(variance / excess); }  // eta - mean
  [[gnu::always_inline]] Lanes worst() const { return mean - sqrt(variance * excess); }
};

[[gnu::always_inline]] inline Active select(Mask yes, const Active& a, const Active& b) {
  return {select(yes, a.mass, b.mass), select(yes, a.mean, b.mean),
          select(yes, a.variance, b.variance), select(yes, a.excess, b.excess)};
}

// The statistics of {v <= centre + width}, in one pass around `centre`.
[[gnu::always_inline]] inline Active statistics(const NominalRow& row, const Block& v, Lanes centre,
                                                Lanes width) {
  Lanes mass = 0.0, left_out = 0.0, first = 0.0, second = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = v[i] - centre;
    const Lanes p = select(x <= width, row.probability[i], 0.0);
    mass += p;
    left_out += row.probability[i] - p;
    first += p * x;
    second += p * x * x;
  }
  const Lanes shift = first / mass;
  // The excess as a difference of two small numbers: (1 + radius) * mass - 1 would lose a tiny
  // radius.
  return {mass, centre + shift, max(second / mass - shift * shift, 0.0),
          row.radius * mass - left_out};
}

// Drops outcomes until those that are left all lie below their own eta. Each lane stops by itself.
// An outcome may stay although it is above eta by the `slack`, the rounding of the mean: it hardly
// counts, whereas dropping one by mistake is for good.
[[gnu::noinline]] Active shrink(const NominalRow& row, const Block& v, Active found, Lanes slack,
                                Mask todo) {
  Lanes width = found.width();
  Mask recentring = Lanes(0.0) < 0.0;
  // Every outcome leaves at most once, and each time at most one more sweep is spent to centre what
  // is left.
  for (int sweep = 0; sweep < 2 * v.outcomes + 2 && any(todo); ++sweep) {
    const Active next = statistics(row, v, found.mean, width + slack);
    const Lanes shift = next.mean - found.mean;
    // The variance is a difference of squares around the old mean. When they cancel, sweep again
    // around the new one.
    const Mask cancels = shift * shift > 1e4 * next.variance;
    const Mask settled = (next.mass == found.mass) & !(cancels | recentring);
    width = select(cancels, width - shift, next.width());
    found = select(todo, next, found);
    todo = todo & !settled;
    recentring = cancels;
  }
  return found;
}

[[gnu::always_inline]] inline Lanes mass_at(Lanes value, const NominalRow& row, const Block& v) {
  Lanes mass = 0.0;
  for (int i = 0; i < v.outcomes; ++i) mass += select(v[i] == value, row.probability[i], 0.0);
  return mass;
}

void write_minimiser(const NominalRow& row, const Block& v, const Active& active, Mask collapsed,
                     Lanes low, const Minimiser& minimiser) {
  put_all_on(low, row, v, minimiser);
  const Lanes width = active.width();
  Lanes total = 0.0;
  for (int i = 0; i < v.outcomes; ++i)
    total += row.probability[i] * max(width - (v[i] - active.mean), 0.0);
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes p = row.probability[i] * max(width - (v[i] - active.mean), 0.0) / total;
    minimiser.set(i, select(collapsed, minimiser.get(i), p));
  }
}

Lanes solve(const NominalRow& row, const Block& v, const Minimiser* minimiser) {
  const auto [low, high] = range_of(v);
  const Lanes mean = expectation(row.probability, v);
  Lanes variance = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = v[i] - mean;
    variance += row.probability[i] * x * x;
  }
  Active active{1.0, mean, variance, row.radius};
  // All outcomes keep mass when high <= eta.
  const Lanes top = high - mean;
  const Mask shrinks = row.radius * top * top > variance;
  if (!any(shrinks) && minimiser == nullptr) return max(active.worst(), low);

  const Mask collapsed = (low == high) | ((1.0 + row.radius) * mass_at(low, row, v) >= 1.0);
  const Lanes slack = 4e-15 * max(abs(low), abs(high));
  active = shrink(row, v, active, slack, shrinks & !collapsed);
  if (minimiser != nullptr) write_minimiser(row, v, active, collapsed, low, *minimiser);
  return select(collapsed & shrinks, low, max(active.worst(), low));
}

}  // namespace

void chi2(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
          double* minimiser) {
  if (row.radius == 0) return nominal(row, values, scratch, worst, minimiser);
  for_each_block(row, values, worst, minimiser,
                 [&](const Block& v, const Minimiser* place) { return solve(row, v, place); });
}

}  // namespace redoubt::REDOUBT_TARGET
