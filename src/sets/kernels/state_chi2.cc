#include "sets/kernels/state_best.h"

// Chi-square, shared by the rows of a state. The optimal P of an action is p (eta_a - v)_+ / t,
// with one t for all actions. Of the outcomes J_a = {v < eta_a} that keep mass, with their mass a,
// mean m and variance s (both relative to a), eta_a = m + t / a, and the distances add up to the
// radius where
//     t = sqrt(S / excess),   worst = sum m - sqrt(S * excess),
//     S = sum a s,   excess = radius - sum (1 - a) / a.
// With outcomes in J that do not belong there, t and every eta_a are too large: dropping what is
// above eta_a never drops too much.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

// What is known of an action, [action][number][lane]. Everything but the lowest value is relative
// to that of the first outcome.
struct Kept {
  Lanes low, range, mean, mass, weighted_variance, left_out;
  Lanes limit;  // of the next sweep, relative to the mean
};
constexpr int kKept = 7;

struct Actions {
  double* first;

  [[gnu::always_inline]] Kept get(int action) const {
    const double* at = first + static_cast<std::size_t>(action) * kKept * kLanes;
    return {load(at),
            load(at + kLanes),
            load(at + 2 * kLanes),
            load(at + 3 * kLanes),
            load(at + 4 * kLanes),
            load(at + 5 * kLanes),
            load(at + 6 * kLanes)};
  }
  [[gnu::always_inline]] void set(int action, const Kept& k) const {
    double* at = first + static_cast<std::size_t>(action) * kKept * kLanes;
    store(at, k.low);
    store(at + kLanes, k.range);
    store(at + 2 * kLanes, k.mean);
    store(at + 3 * kLanes, k.mass);
    store(at + 4 * kLanes, k.weighted_variance);
    store(at + 5 * kLanes, k.left_out);
    store(at + 6 * kLanes, k.limit);
  }
};

// An outcome may stay in J although it is above eta by the rounding of the mean: it hardly counts,
// whereas one that is dropped by mistake is lost for good.
[[gnu::always_inline]] inline Lanes slack(const Kept& k) { return 4e-15 * k.range; }

[[gnu::always_inline]] inline Kept measure(const StateBlock& s, int action) {
  const Lanes origin = s.v(action, 0);
  Lanes low = origin, high = origin, mean = 0.0, second = 0.0;
  for (int i = 0; i < s.outcomes; ++i) {
    const Lanes v = s.v(action, i), x = v - origin, weighted = s.p(action, i) * x;
    low = min(v, low);
    high = max(v, high);
    mean += weighted;
    second += weighted * x;
  }
  Lanes variance = second - mean * mean;
  const Mask cancels = variance < 1e-3 * second;
  if (any(cancels)) {
    Lanes around_mean = 0.0;
    for (int i = 0; i < s.outcomes; ++i) {
      const Lanes x = (s.v(action, i) - origin) - mean;
      around_mean += s.p(action, i) * x * x;
    }
    variance = select(cancels, around_mean, variance);
  }
  return {low, high - low, mean, 1.0, max(variance, 0.0), 0.0, (high - origin) - mean};
}

struct Sweep {
  Lanes top;  // the highest value that stays, relative to the new mean
  Mask cancels;
};

// Drops the outcomes of an action above its limit. Lanes that are not among `these` keep their
// state.
[[gnu::always_inline]] inline Sweep shrink(const StateBlock& s, int action, Mask these, Kept& k) {
  const Lanes origin = s.v(action, 0);
  Lanes mass = 0.0, left_out = 0.0, first = 0.0, second = 0.0;
  Lanes top = (k.low - origin) - k.mean;
  const Lanes limit = k.limit + slack(k);
  for (int i = 0; i < s.outcomes; ++i) {
    const Lanes p = s.p(action, i), x = (s.v(action, i) - origin) - k.mean, weighted = p * x;
    const Mask stays = x <= limit;
    mass = add_where(stays, mass, p);
    left_out = add_where(!stays, left_out, p);
    first = add_where(stays, first, weighted);
    second = add_where(stays, second, weighted * x);
    top = max_unless(!stays, top, x);
  }
  const Lanes shift = first / mass, around_mean = max(second - shift * first, 0.0);
  // A difference of squares around the old mean. When they cancel, the same outcomes are summed
  // again around the new one.
  const Mask cancels = shift * first > 100.0 * around_mean;
  k.mean = select(these, k.mean + shift, k.mean);
  k.limit = select(these, k.limit - shift, k.limit);
  k.mass = select(these, mass, k.mass);
  k.left_out = select(these, left_out, k.left_out);
  k.weighted_variance = select(these, around_mean, k.weighted_variance);
  return {top - shift, cancels};
}

struct Task {
  Lanes spread, excess;  // S, and what is left of the radius
  Mask todo, collapsed, certain;

  [[gnu::always_inline]] Lanes t() const { return sqrt(spread / excess); }
};

// Every action drops what is above its eta, and the t of what is left is found.
[[gnu::always_inline]] inline void sweep(const StateBlock& s, const Actions& actions, double* tops,
                                         Task& task) {
  Lanes spread = 0.0, excess = s.radius;
  Mask cancels = task.todo & !task.todo;
  for (int a = 0; a < s.actions; ++a) {
    Kept k = actions.get(a);
    const Sweep done = shrink(s, a, task.todo, k);
    cancels = cancels | done.cancels;
    spread += k.weighted_variance;
    excess -= k.left_out / k.mass;
    store(tops + static_cast<std::size_t>(a) * kLanes, done.top);
    actions.set(a, k);
  }
  task.spread = select(task.todo, spread, task.spread);
  task.excess = select(task.todo, excess, task.excess);
  const Lanes t = task.t();
  Mask settled = !cancels;
  for (int a = 0; a < s.actions; ++a) {
    Kept k = actions.get(a);
    const Lanes limit = t / k.mass;
    settled = settled & (load(tops + static_cast<std::size_t>(a) * kLanes) <= limit + slack(k));
    k.limit = select(task.todo & !cancels, limit, k.limit);
    actions.set(a, k);
  }
  task.todo = task.todo & !settled;
}

[[gnu::always_inline]] inline Task solve(const StateBlock& s, const Actions& actions,
                                         double* tops) {
  Task task;
  task.certain = s.radius <= kNoRadius;
  task.spread = 0.0;
  Lanes range = 0.0, collapse = 0.0;
  for (int a = 0; a < s.actions; ++a) {
    const Kept k = measure(s, a);
    task.spread += k.weighted_variance;
    range = max(range, k.range);
    actions.set(a, k);
  }
  task.excess = s.radius;
  task.collapsed = range == 0.0;
  task.todo = task.certain & !task.certain;
  const Lanes t = task.t();
  for (int a = 0; a < s.actions; ++a) {
    Kept k = actions.get(a);
    task.todo = task.todo | (k.limit > t);  // the highest outcome is above eta
    k.limit = t;
    actions.set(a, k);
  }
  task.todo = task.todo & !task.certain & !task.collapsed;
  if (!any(task.todo)) return task;
  for (int a = 0; a < s.actions; ++a) {
    const Lanes at_low = s.mass_at(a, actions.get(a).low);
    collapse += (1.0 - at_low) / at_low;
  }
  task.collapsed = task.collapsed | (task.todo & (collapse <= s.radius));
  task.todo = task.todo & !task.collapsed;
  // Every outcome leaves at most once, and each time at most one more sweep is spent on centring.
  for (int n = 0; any(task.todo) && n < 2 * s.actions * s.outcomes + 2; ++n)
    sweep(s, actions, tops, task);
  return task;
}

// P is p (eta - v)_+ up to a factor. Where eta is within rounding of the mean, all that is left has
// nearly one value: P is p.
[[gnu::always_inline]] inline Lanes share(const Kept& k, Lanes x, Lanes width) {
  return select(width > slack(k), max(width - x, 0.0), select(x <= slack(k), 1.0, 0.0));
}

void write_minimiser(const StateBlock& s, const Actions& actions, const Task& task,
                     const Column& minimiser) {
  const Lanes t = task.t();
  for (int a = 0; a < s.actions; ++a) {
    const Kept k = actions.get(a);
    const Lanes origin = s.v(a, 0), width = t / k.mass, at_low = s.mass_at(a, k.low);
    Lanes total = 0.0;
    for (int i = 0; i < s.outcomes; ++i)
      total += s.p(a, i) * share(k, (s.v(a, i) - origin) - k.mean, width);
    for (int i = 0; i < s.outcomes; ++i) {
      const Lanes inside = s.p(a, i) * share(k, (s.v(a, i) - origin) - k.mean, width) / total;
      const Lanes lowest = select(s.v(a, i) == k.low, s.p(a, i) / at_low, 0.0);
      minimiser.set(a * s.outcomes + i, select(task.collapsed, lowest, inside));
    }
  }
  no_landings(s, minimiser);
  keep_nominal_states(task.certain, s, minimiser);
}

// The conjugate of an action at the slope b: J and the mean under P at t = 2 / b.
struct Chi2Conjugate {
  static constexpr double kPerVariance = 0.5;  // the slope of the mean at b = 0, over the variance

  [[gnu::always_inline]] Conjugate operator()(const StateBlock& s, int action, Lanes b) const {
    Kept k = measure(s, action);
    const Lanes t = 2.0 / b, nominal = k.mean;
    Mask todo = (k.limit > t) & (b > 0.0);
    k.limit = t;
    for (int n = 0; any(todo) && n < 2 * s.outcomes + 2; ++n) {
      const Sweep done = shrink(s, action, todo, k);
      const Lanes limit = t / k.mass;
      const Mask settled = (done.top <= limit + slack(k)) & !done.cancels;
      k.limit = select(todo & !done.cancels, limit, k.limit);
      todo = todo & !settled;
    }
    const Lanes slope = 0.5 * k.weighted_variance;
    const Lanes mean = k.mean - slope * b;  // under P
    const Lanes distance = 0.5 * slope * b * b + k.left_out / k.mass;
    return {b * (nominal - mean) - distance, mean - nominal, slope};
  }
};

}  // namespace

void state_chi2(const LaneStates& states, const StateValues& values, Scratch& scratch,
                double* worst, double* minimiser) {
  double* numbers =
      scratch.doubles(static_cast<std::size_t>(states.actions) * (kKept + 1) * kLanes);
  const Actions actions{numbers};
  double* tops = numbers + static_cast<std::size_t>(states.actions) * kKept * kLanes;
  for_each_state_block(
      states, values, worst, minimiser, [&](const StateBlock& s, const Column* place) {
        const Task task = solve(s, actions, tops);
        Lanes low = 0.0, mean = 0.0;
        for (int a = 0; a < s.actions; ++a) {
          const Kept k = actions.get(a);
          low += k.low;
          mean += s.v(a, 0) + k.mean;
        }
        if (place != nullptr) write_minimiser(s, actions, task, *place);
        const Lanes inside = max(mean - sqrt(task.spread * task.excess), low);
        const Lanes found = select(task.collapsed, low, inside);
        return any(task.certain) ? select(task.certain, s.expectation(), found) : found;
      });
}

void best_chi2(const LaneStates& states, const StateValues& values, const double* alone,
               Scratch& scratch, double* best, double* weight) {
  ascend(states, values, alone, scratch.doubles(best_room(states.actions)), best, weight,
         Chi2Conjugate{});
}

}  // namespace redoubt::internal::REDOUBT_TARGET
