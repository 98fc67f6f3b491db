#include "sets/kernels/block.h"

// sum (P - p)^2 / p <= radius. The optimal P is p (eta - v)_+ up to a factor, so nature's problem
// is to find which outcomes keep mass: J = {v < eta}. Given J, with its mass a, mean m and variance
// s (both relative to a),
//     eta = m + sqrt(s / excess),   worst = m - sqrt(s * excess),   excess = (1 + radius) a - 1.
// Most rows at small radii keep all their outcomes, and that is tested first.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

// One block. Everything but `low` is relative to the value of the first outcome, so that rounding
// is relative to the range of the values and not to their size.
struct Task {
  Block v;
  Lanes origin, low, slack;
  Lanes mean, variance, excess;  // of J
  Lanes width;                   // eta - mean
  Mask todo, collapsed;
  Mask certain;  // the row of the lane is its nominal one

  [[gnu::always_inline]] Lanes value(int outcome) const { return v[outcome] - origin; }
  [[gnu::always_inline]] Lanes worst() const {
    const Lanes inside = origin + (mean - sqrt(variance * excess));
    return select(collapsed, low, max(inside, low));
  }
};

template <class Rows>
[[gnu::always_inline]] inline void measure(const Rows& rows, Task& task) {
  const Block& v = task.v;
  const auto radius = rows.radius(v);
  task.origin = v[0];
  Lanes low = v[0], high = v[0], mean = 0.0, second = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes x = task.value(i), weighted = rows.probability(v, i) * x;
    low = min(v[i], low);
    high = max(v[i], high);
    mean += weighted;
    second += weighted * x;
  }
  Lanes variance = second - mean * mean;
  const Mask cancels = variance < 1e-3 * second;
  if (any(cancels)) {  // a second pass around the mean
    Lanes around_mean = 0.0;
    for (int i = 0; i < v.outcomes; ++i) {
      const Lanes x = task.value(i) - mean;
      around_mean += rows.probability(v, i) * x * x;
    }
    variance = select(cancels, around_mean, variance);
  }
  task.low = low;
  task.mean = mean;
  task.variance = variance;
  task.excess = radius;
  task.certain = Lanes(radius) <= kNoRadius;
  const Lanes top = (high - task.origin) - mean;
  task.todo = (radius * top * top > variance) & !task.certain;  // high > eta
  task.collapsed = low == high;
  // An outcome may stay in J although it is above eta by the rounding of the mean: it hardly
  // counts, whereas an outcome that is dropped by mistake is lost for good.
  task.slack = 4e-15 * (high - low);
}

[[gnu::always_inline]] inline Lanes width_of(Lanes variance, Lanes excess) {
  return sqrt(variance / excess);
}

// For blocks in which some lane drops an outcome.
template <class Rows>
[[gnu::always_inline]] inline void prepare(const Rows& rows, Task& task) {
  const Lanes at_low = mass_at(task.low, rows, task.v);
  task.collapsed = task.collapsed | (task.todo & ((1.0 + rows.radius(task.v)) * at_low >= 1.0));
  task.todo = task.todo & !task.collapsed;
  task.width = width_of(task.variance, task.excess);
}

// Drops the outcomes above eta, and finds the eta of those that are left. Lanes that are not in
// `todo` keep their state.
template <class Rows>
[[gnu::always_inline]] inline void shrink(const Rows& rows, Task& task) {
  Lanes mass = 0.0, left_out = 0.0, first = 0.0, second = 0.0;
  Lanes top = (task.low - task.origin) - task.mean;  // the highest that stays
  const Lanes limit = task.width + task.slack;
  for (int i = 0; i < task.v.outcomes; ++i) {
    const auto p = rows.probability(task.v, i);
    const Lanes x = task.value(i) - task.mean, weighted = p * x;
    const Mask stays = x <= limit;
    mass = add_where(stays, mass, p);
    left_out = add_where(!stays, left_out, p);
    first = add_where(stays, first, weighted);
    second = add_where(stays, second, weighted * x);
    top = max_unless(!stays, top, x);
  }
  const Lanes per_mass = 1.0 / mass, shift = first * per_mass;
  const Lanes variance = max(second * per_mass - shift * shift, 0.0);
  // As a difference of two small numbers: (1 + radius) * mass - 1 would lose a tiny radius.
  const Lanes excess = rows.radius(task.v) * mass - left_out;
  // The variance is a difference of squares around the old mean. When they cancel, the same
  // outcomes are summed again around the new one.
  const Mask cancels = shift * shift > 100.0 * variance;
  task.width = select(cancels, task.width - shift, width_of(variance, excess));
  const Mask settled = (top - shift <= task.width + task.slack) & !cancels;
  task.mean = select(task.todo, task.mean + shift, task.mean);
  task.variance = select(task.todo, variance, task.variance);
  task.excess = select(task.todo, excess, task.excess);
  task.todo = task.todo & !settled;
}

// P is p (eta - v)_+ up to a factor. Where eta is within rounding of the mean, all that is left has
// nearly one value: P is p.
[[gnu::always_inline]] inline Lanes weight(const Task& task, int outcome, Lanes width) {
  const Lanes x = task.value(outcome) - task.mean;
  return select(width > task.slack, max(width - x, 0.0), select(x <= task.slack, 1.0, 0.0));
}

template <class Rows>
void write_minimiser(const Rows& rows, const Task& task, const Minimiser& minimiser) {
  const Block& v = task.v;
  put_all_on(task.low, rows, v, minimiser);
  const Lanes width = width_of(task.variance, task.excess);
  Lanes total = 0.0;
  for (int i = 0; i < v.outcomes; ++i) total += rows.probability(v, i) * weight(task, i, width);
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes p = rows.probability(v, i) * weight(task, i, width) / total;
    minimiser.set(i, select(task.collapsed, minimiser.get(i), p));
  }
  minimiser.set(v.outcomes, 0.0);
  keep_nominal_where(task.certain, rows, v, minimiser);
}

template <class Rows>
[[gnu::always_inline]] inline void solve(const Rows& rows, Task* tasks, int count) {
  for (int i = 0; i < count; ++i) measure(rows, tasks[i]);
  for (int i = 0; i < count; ++i)
    if (any(tasks[i].todo)) prepare(rows, tasks[i]);
  // Every outcome leaves at most once, and each time at most one more sweep is spent on centring.
  bool more = true;
  for (int sweep = 0; more && sweep < 2 * rows.outcomes + 2; ++sweep) {
    more = false;
    for (int i = 0; i < count; ++i) {
      if (!any(tasks[i].todo)) continue;
      shrink(rows, tasks[i]);
      more = true;
    }
  }
}

template <class Rows>
[[gnu::always_inline]] inline void solve(const Rows& rows, const LaneValues& values, double* worst,
                                         double* minimiser) {
  solve_together<Task>(
      rows.outcomes, values, worst, minimiser,
      [&](Task* tasks, int count) { solve(rows, tasks, count); },
      [&](const Task& task) { return mean_where(task.certain, rows, task.v, task.worst()); },
      [&](const Task& task, const Minimiser& place) { write_minimiser(rows, task, place); });
}

}  // namespace

void chi2(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
          double* minimiser) {
  if (row.radius <= kNoRadius) return nominal(row, values, scratch, worst, minimiser);
  solve(SharedRow(row), values, worst, minimiser);
}

void chi2(const LaneRows& rows, const LaneValues& values, Scratch&, double* worst,
          double* minimiser) {
  solve(RowOfLane(rows, values.lanes), values, worst, minimiser);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
