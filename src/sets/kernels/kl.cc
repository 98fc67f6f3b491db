#include "sets/kernels/kl_guess.h"
#include "sets/kernels/kl_search.h"

// sum P log(P / p) <= radius. A guess of b, one evaluation there, and more of them in lanes that it
// does not settle.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

// One block on its way through the stages.
template <class Number>
struct Task {
  Block v;
  Number radius, collapse_mass;  // at that mass, nature can afford to put everything on an outcome
  Shape shape;
  Lanes low;
  Lanes b;  // where to evaluate next
  PowerSums sums;
  Mask todo;         // lanes that are not finished
  Mask centred;      // lanes that centred_sums may evaluate
  Lanes drop, best;  // of lanes that are: the drop below the mean, and its b
  Mask collapsed;    // lanes in which nature can afford to put everything on the lowest value
  Mask certain;      // lanes whose row is its nominal one
};

[[gnu::always_inline]] inline double exp_of(double x) { return __builtin_exp(x); }
[[gnu::always_inline]] inline Lanes exp_of(Lanes x) {  // rows mostly have one radius
  alignas(64) double numbers[kLanes];
  store(numbers, x);
  double last = numbers[0], result = __builtin_exp(last);
  for (double& number : numbers) {
    if (number != last) last = number, result = __builtin_exp(number);
    number = result;
  }
  return load(numbers);
}

template <class Rows>
[[gnu::always_inline]] inline void measure(const Rows& rows, Task<typename Rows::Number>& task) {
  const Block& v = task.v;
  task.radius = rows.radius(v);
  task.certain = Lanes(task.radius) <= kNoRadius;
  const Lanes origin = v[0];
  Lanes low = origin, high = origin, mean = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    low = min(v[i], low);
    high = max(v[i], high);
    mean += rows.probability(v, i) * (v[i] - origin);
  }
  const Lanes range = high - low, unit = inverse_power_below(range), level = mean * unit;
  Lanes m2 = 0.0, m3 = 0.0, m4 = 0.0, m5 = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes y = level - (v[i] - origin) * unit;
    const Lanes y2 = y * y, second = rows.probability(v, i) * y2, fourth = second * y2;
    m2 += second;
    m3 += second * y;
    m4 += fourth;
    m5 += fourth * y;
  }
  task.shape = {origin, low - origin, mean, unit, power_below(range), range * unit, m2, m3, m4, m5};
  task.low = low;
  task.collapsed = low == high;
  task.certain = task.certain | ((range < kNoRange) & !task.collapsed);
  task.todo = !(task.collapsed | task.certain);
  task.drop = 0.0;
  task.best = 1.0;
}

template <class Number>
[[gnu::always_inline]] inline void collapse(Mask these, Task<Number>& task) {
  task.collapsed = task.collapsed | these;
  task.todo = task.todo & !these;
}

// Takes over what is certified in `these` lanes.
template <class Number>
[[gnu::always_inline]] inline void settle(const Estimate& here, Mask these, Task<Number>& task) {
  const Mask done = these & here.certified;
  task.drop = select(done, here.drop, task.drop);
  task.best = select(done, here.b, task.best);
  task.todo = task.todo & !done;
}

// A better guess for the lanes of which the cumulants tell nothing.
template <class Rows, class Rates>
[[gnu::noinline]] void guess_rare(const Rows& rows, const Rates& rates,
                                  Task<typename Rows::Number>& task) {
  const Mask rare = task.todo & !task.centred;
  collapse(rare & (mass_at(task.low, rows, task.v) >= task.collapse_mass), task);
  const Lanes better =
      guess_from_rates(rows, task.collapse_mass, task.v, task.shape, rates, task.b);
  task.b = select(rare, better, task.b);
  task.centred = task.b <= kLargestCentred;
}

template <class Rows, class Rates, class Task>
[[gnu::always_inline]] inline void guess(const Rows& rows, Task** open, int count, Rates& rates) {
  for (int i = 0; i < count; ++i) {
    const Guess first = guess_from_cumulants(open[i]->radius, open[i]->shape);
    open[i]->b = first.b;
    open[i]->centred = first.told;
  }
  for (int i = 0; i < count; ++i) {
    if (!any(open[i]->todo & !open[i]->centred)) continue;
    rates.find(rows, open[i]->collapse_mass);
    guess_rare(rows, rates, *open[i]);
  }
}

// Takes over what the sums at task.b certify, and aims the others at the optimum that the series
// suggests.
template <class Number>
[[gnu::always_inline]] inline void assess(Task<Number>& task) {
  const Lanes b = task.b;
  const Estimate here = extrapolate(evaluation_with_one_division(task.sums), task.radius, b,
                                    task.shape.width, full_span(task.shape, b));
  settle(here, task.todo & task.centred, task);
  const Lanes next = min(min(max(here.b, 0.25 * b), 4.0 * b), kLargestCentred);
  task.b = select(task.centred, next, b);
}

template <class Number>
[[gnu::always_inline]] inline Estimate extrapolate_anywhere(const Evaluation& e, Number radius,
                                                            Lanes b, const Shape& shape) {
  return extrapolate(e, radius, b, shape.width, span_that_counts(e, shape, b));
}

template <class Rows, class Task>
[[gnu::always_inline]] inline void start(const Rows& rows, Task& task, Search& search) {
  const Lanes at_low = mass_at(task.low, rows, task.v);
  collapse(task.todo & (at_low >= task.collapse_mass), task);
  start_search(-log(at_low), task.radius, search);
}

// Narrows the bracket by the evaluation at task.b, and chooses the next b.
template <class Number>
[[gnu::always_inline]] inline void narrow(bool bisects, bool last, Task<Number>& task,
                                          Search& search) {
  const Lanes b = task.b;
  narrow_bracket(task.radius, b, search);
  // Where only rounding is left the bracket closes without a certificate, and values that differ by
  // less than their rounding keep it from closing at all. Any b gives a lower bound.
  const Mask closed = last ? b == b : is_closed(search);
  settle({(task.radius + search.at.log_mass) / b, b, closed}, task.todo, task);
  task.b = next_b(search, b, bisects);
}

template <class Task>
[[gnu::always_inline]] inline int keep_open(Task** tasks, int count) {
  int left = 0;
  for (int i = 0; i < count; ++i)
    if (any(tasks[i]->todo)) tasks[left++] = tasks[i];
  return left;
}

// For lanes that the series does not settle, or that are beyond it.
template <class Rows, class Task>
[[gnu::noinline]] void persist(const Rows& rows, Task** open, int count, Work& work) {
  Search searches[kTogether];
  constexpr int kBisect = 12, kMost = 100;
  for (int round = 0; round < kMost; ++round) {
    bool more = false;
    for (int i = 0; i < count; ++i) {
      if (!any(open[i]->todo)) continue;
      more = true;
      ++work.evaluations;
      searches[i].at = evaluate_anywhere(rows, open[i]->v, open[i]->shape, open[i]->b);
    }
    if (!more) return;
    for (int i = 0; i < count; ++i) {
      Task& task = *open[i];
      const Lanes b = task.b;
      settle(extrapolate_anywhere(searches[i].at, task.radius, b, task.shape), task.todo, task);
      if (!any(task.todo)) continue;
      if (round == 0) start(rows, task, searches[i]);
      narrow(round >= kBisect, round + 1 == kMost, task, searches[i]);
    }
  }
}

template <class Rows, class Task>
[[gnu::always_inline]] inline Lanes worst_of(const Rows& rows, const Task& task) {
  const Shape& shape = task.shape;
  const Lanes worst = shape.origin + (shape.mean - task.drop * shape.per_unit);
  return mean_where(task.certain, rows, task.v,
                    select(task.collapsed, task.low, max(worst, task.low)));
}

template <class Rows, class Task>
void write_minimiser(const Rows& rows, const Task& task, const Minimiser& minimiser) {
  const Shape& shape = task.shape;
  const Block& v = task.v;
  put_all_on(task.low, rows, v, minimiser);
  // The value is insensitive to b, P is not: one more evaluation makes b as exact as the value.
  const Lanes b = task.best;
  const Estimate again =
      extrapolate_anywhere(evaluate_anywhere(rows, v, shape, b), task.radius, b, shape);
  const Lanes slope = -select(again.certified, again.b, b) * shape.unit;
  // The slope has no number where all but values that are nearly the lowest are left: then those
  // keep their shares.
  Lanes mass = 0.0, lowest = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes above = (v[i] - shape.origin) - shape.low;
    mass += rows.probability(v, i) * exp(above * slope);
    lowest += select(above < kNoRange, Lanes(rows.probability(v, i)), 0.0);
  }
  const Mask steep = !(mass == mass);
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes above = (v[i] - shape.origin) - shape.low;
    const Lanes tilted = rows.probability(v, i) * exp(above * slope) / mass;
    const Lanes kept = select(above < kNoRange, Lanes(rows.probability(v, i)), 0.0) / lowest;
    const Lanes p = select(steep, kept, tilted);
    minimiser.set(i, select(task.collapsed, minimiser.get(i), p));
  }
  minimiser.set(v.outcomes, 0.0);
  keep_nominal_where(task.certain, rows, v, minimiser);
}

template <class Rows, class Rates, class Task>
[[gnu::always_inline]] inline void solve(const Rows& rows, Task* tasks, int count, Rates& rates,
                                         Work& work) {
  for (int i = 0; i < count; ++i) measure(rows, tasks[i]);
  Task *open[kTogether], *centred[kTogether];
  for (int i = 0; i < count; ++i) open[i] = &tasks[i];
  const int blocks = keep_open(open, count);
  work.blocks += blocks;
  guess(rows, open, blocks, rates);
  constexpr int kRounds = 2;  // the series rarely needs two, and then it rarely needs three
  for (int round = 0; round < kRounds; ++round) {
    int some = 0;
    for (int i = 0; i < blocks; ++i)
      if (any(open[i]->todo & open[i]->centred)) centred[some++] = open[i];
    work.evaluations += some;
    for (int i = 0; i < some; ++i) {
      Task& task = *centred[i];
      task.sums = centred_sums(rows, task.v, task.shape, min(task.b, kLargestCentred));
    }
    for (int i = 0; i < some; ++i) assess(*centred[i]);
  }
  const int left = keep_open(open, blocks);
  if (left > 0) persist(rows, open, left, work);
}

// Mass: the collapse mass of a block.
template <class Rows, class Rates, class Mass>
[[gnu::always_inline]] inline void solve_all(const Rows& rows, Rates rates, Mass mass,
                                             const LaneValues& values, Scratch& scratch,
                                             double* worst, double* minimiser) {
  using BlockTask = Task<typename Rows::Number>;
  solve_together<BlockTask>(
      rows.outcomes, values, worst, minimiser,
      [&](BlockTask* tasks, int count) {
        for (int i = 0; i < count; ++i) tasks[i].collapse_mass = mass(tasks[i].v);
        solve(rows, tasks, count, rates, scratch.work);
      },
      [&](const BlockTask& task) { return worst_of(rows, task); },
      [&](const BlockTask& task, const Minimiser& place) { write_minimiser(rows, task, place); });
}

}  // namespace

void kl(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
        double* minimiser) {
  if (row.radius <= kNoRadius) return nominal(row, values, scratch, worst, minimiser);
  const double mass = exp_of(-row.radius);
  solve_all(
      SharedRow(row), SharedRates{scratch.doubles(padded_lanes(row.outcomes))},
      [&](const Block&) { return mass; }, values, scratch, worst, minimiser);
}

void kl(const LaneRows& given, const LaneValues& values, Scratch& scratch, double* worst,
        double* minimiser) {
  const RowOfLane rows(given, values.lanes);
  solve_all(
      rows, RatesOfLane{}, [&](const Block& v) { return exp_of(-rows.radius(v)); }, values, scratch,
      worst, minimiser);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
