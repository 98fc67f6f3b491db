#include "sets/kernels/kl_guess.h"
#include "sets/kernels/kl_search.h"
#include "sets/kernels/state_best.h"

// Kullback-Leibler, shared by the rows of a state. The optimal P of every action is its row tilted
// with one b for all of them, and the worst case is the maximum over b of
//     sum of the means - (radius + sum over actions of L_a) / b.
// Cumulants and divergences of the actions add up, so the series and the search of a single row
// (kl_series.h, kl_search.h) hold for their sums.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

// The action's row and its values, as the functions for single rows read them.
struct RowOfAction {
  const StateBlock* s;
  int action, outcomes;

  [[gnu::always_inline]] Lanes probability(const Block&, int outcome) const {
    return s->p(action, outcome);
  }
};
[[gnu::always_inline]] inline Block block_of(const StateBlock& s, const double** pointers,
                                             int action) {
  for (int i = 0; i < s.outcomes; ++i)
    pointers[i] =
        s.value.first + static_cast<std::size_t>(action * s.outcomes + i) * s.value.stride;
  return {pointers, s.outcomes, 0};
}

// Shapes of the actions, all in the unit of the widest.
constexpr int kShape = 7;
struct Shapes {
  double* first;

  [[gnu::always_inline]] Shape get(int action, Lanes unit) const {
    const double* at = first + static_cast<std::size_t>(action) * kShape * kLanes;
    return {load(at),
            load(at + kLanes),
            load(at + 2 * kLanes),
            unit,
            0.0,
            load(at + 3 * kLanes),
            load(at + 4 * kLanes),
            load(at + 5 * kLanes),
            load(at + 6 * kLanes),
            0.0};
  }
  [[gnu::always_inline]] void set(int action, const Shape& shape) const {
    double* at = first + static_cast<std::size_t>(action) * kShape * kLanes;
    store(at, shape.origin);
    store(at + kLanes, shape.low);
    store(at + 2 * kLanes, shape.mean);
    store(at + 3 * kLanes, shape.width);
    store(at + 4 * kLanes, shape.m2);
    store(at + 5 * kLanes, shape.m3);
    store(at + 6 * kLanes, shape.m4);
  }
};

struct Room {
  Shapes shapes;
  const double** pointers;  // to the values of one action's outcomes
};

// Of a block of states.
struct Task {
  Lanes unit, per_unit, width;
  Shape total;      // the moments that have the sums of the actions' cumulants
  Lanes mean, low;  // sums over the actions
  Lanes b, drop, best;
  Mask todo, collapsed, certain;
};

[[gnu::always_inline]] inline Evaluation evaluate_centred(const RowOfAction& row, const Block& v,
                                                          const Shape& shape, Lanes b) {
  const PowerSums sums = centred_sums(row, v, shape, b);
  return evaluation(sums, 1.0 / (1.0 + sums.s0), 0.0, log1p(sums.s0));
}

[[gnu::always_inline]] inline Evaluation select(Mask yes, const Evaluation& a,
                                                const Evaluation& b) {
  return {select(yes, a.log_mass, b.log_mass),
          select(yes, a.c1, b.c1),
          select(yes, a.c2, b.c2),
          select(yes, a.c3, b.c3),
          select(yes, a.c4, b.c4),
          0.0,
          select(yes, a.divergence, b.divergence)};
}

struct Measured {
  Evaluation sums;
  Lanes span;  // all x that count lie in intervals of this length
};

// Which of the two ways an action is evaluated depends on its own lane alone.
[[gnu::noinline]] Measured measure_at(const StateBlock& s, const Room& room, const Task& task,
                                      Lanes b) {
  const Mask centred = b <= kLargestCentred;
  const bool some = any(task.todo & centred), others = any(task.todo & !centred);
  Measured m{{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, 0.0};
  for (int a = 0; a < s.actions; ++a) {
    const RowOfAction row{&s, a, s.outcomes};
    const Block v = block_of(s, room.pointers, a);
    const Shape shape = room.shapes.get(a, task.unit);
    Evaluation e{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (some) e = evaluate_centred(row, v, shape, min(b, kLargestCentred));
    if (others) e = select(centred, e, evaluate_anywhere(row, v, shape, b));
    m.sums.log_mass += e.log_mass;
    m.sums.c1 += e.c1;
    m.sums.c2 += e.c2;
    m.sums.c3 += e.c3;
    m.sums.c4 += e.c4;
    m.sums.divergence += e.divergence;
    m.span = max(m.span, select(centred, full_span(shape, b), span_that_counts(e, shape, b)));
  }
  m.sums.per_c2 = 1.0 / m.sums.c2;
  return m;
}

[[gnu::always_inline]] inline Lanes range_of(const StateBlock& s, int action) {
  Lanes low = s.v(action, 0), high = low;
  for (int i = 1; i < s.outcomes; ++i) {
    low = min(s.v(action, i), low);
    high = max(s.v(action, i), high);
  }
  return high - low;
}

[[gnu::always_inline]] inline Shape shape_of(const StateBlock& s, int action, Lanes unit) {
  const Lanes origin = s.v(action, 0);
  Lanes low = origin, high = origin, mean = 0.0;
  for (int i = 0; i < s.outcomes; ++i) {
    low = min(s.v(action, i), low);
    high = max(s.v(action, i), high);
    mean += s.p(action, i) * (s.v(action, i) - origin);
  }
  const Lanes level = mean * unit;
  Lanes m2 = 0.0, m3 = 0.0, m4 = 0.0, m5 = 0.0;
  for (int i = 0; i < s.outcomes; ++i) {
    const Lanes y = level - (s.v(action, i) - origin) * unit;
    const Lanes y2 = y * y, second = s.p(action, i) * y2, fourth = second * y2;
    m2 += second;
    m3 += second * y;
    m4 += fourth;
    m5 += fourth * y;
  }
  return {origin, low - origin, mean, unit, 0.0, (high - low) * unit, m2, m3, m4, m5};
}

[[gnu::always_inline]] inline Task measure(const StateBlock& s, const Room& room) {
  Task task;
  Lanes range = 0.0;
  for (int a = 0; a < s.actions; ++a) range = max(range, range_of(s, a));
  task.unit = inverse_power_below(range);
  task.per_unit = power_below(range);
  task.width = range * task.unit;
  task.mean = task.low = 0.0;
  Lanes k2 = 0.0, k3 = 0.0, k4 = 0.0, k5 = 0.0;
  for (int a = 0; a < s.actions; ++a) {
    const Shape shape = shape_of(s, a, task.unit);
    k2 += shape.m2;
    k3 += shape.m3;
    k4 += shape.m4 - 3.0 * shape.m2 * shape.m2;
    k5 += shape.m5 - 10.0 * shape.m2 * shape.m3;
    task.mean += shape.origin + shape.mean;
    task.low += shape.origin + shape.low;
    room.shapes.set(a, shape);
  }
  task.total.m2 = k2;
  task.total.m3 = k3;
  task.total.m4 = k4 + 3.0 * k2 * k2;
  task.total.m5 = k5 + 10.0 * k2 * k3;
  task.certain = s.radius <= kNoRadius;
  task.collapsed = range == 0.0;
  task.certain = task.certain | ((range < kNoRange) & !task.collapsed);
  task.todo = !(task.collapsed | task.certain);
  task.drop = 0.0;
  task.best = 1.0;
  return task;
}

[[gnu::always_inline]] inline void settle(const Estimate& here, Task& task) {
  const Mask done = task.todo & here.certified;
  task.drop = select(done, here.drop, task.drop);
  task.best = select(done, here.b, task.best);
  task.todo = task.todo & !done;
}

// The divergence of a state all of whose rows have collapsed to their lowest values.
[[gnu::always_inline]] inline Lanes limit_of(const StateBlock& s, const Room& room,
                                             const Task& task) {
  Lanes limit = 0.0;
  for (int a = 0; a < s.actions; ++a) {
    const Shape shape = room.shapes.get(a, task.unit);
    Lanes at_low = 0.0;
    for (int i = 0; i < s.outcomes; ++i)
      at_low = add_where(s.v(a, i) - shape.origin == shape.low, at_low, s.p(a, i));
    limit -= log(min(at_low, 1.0));
  }
  return limit;
}

// In states with rare outcomes: the least b at which one of them alone would use up the radius.
[[gnu::noinline]] Lanes guess_rare(const StateBlock& s, const Room& room, const Task& task) {
  const Lanes collapse_mass = exp(max(-s.radius, -700.0));
  Lanes per_b = 0.0;
  for (int a = 0; a < s.actions; ++a) {
    const RowOfAction row{&s, a, s.outcomes};
    const Shape shape = room.shapes.get(a, task.unit);
    const Lanes level = bulk(row, block_of(s, room.pointers, a), shape) * task.unit;
    for (int i = 0; i < s.outcomes; ++i) {
      const Lanes p = s.p(a, i), rate = rare_rate(max(p, 1e-320), s.radius, collapse_mass);
      per_b =
          max(select(p > 0.0, (level - (s.v(a, i) - shape.origin) * task.unit) * rate, 0.0), per_b);
    }
  }
  return select(per_b > 0.0, 1.0 / per_b, task.b);
}

[[gnu::always_inline]] inline void solve(const StateBlock& s, const Room& room, Task& task,
                                         Work& work) {
  if (!any(task.todo)) return;
  ++work.blocks;
  const Guess first = guess_from_cumulants(s.radius, task.total);
  task.b = first.b;
  if (any(task.todo & !first.told)) task.b = select(first.told, task.b, guess_rare(s, room, task));
  Search search;
  constexpr int kBisect = 14, kMost = 120;
  for (int round = 0; round < kMost; ++round) {
    ++work.evaluations;
    const Lanes b = task.b;
    const Measured here = measure_at(s, room, task, b);
    search.at = here.sums;
    settle(extrapolate(here.sums, s.radius, b, task.width, here.span), task);
    if (!any(task.todo)) return;
    if (round == 0) {
      const Lanes limit = limit_of(s, room, task);
      const Mask collapses = task.todo & (s.radius >= limit);
      task.collapsed = task.collapsed | collapses;
      task.todo = task.todo & !collapses;
      start_search(limit, s.radius, search);
    }
    narrow_bracket(s.radius, b, search);
    const Mask closed = round + 1 == kMost ? b == b : is_closed(search);
    settle({(s.radius + here.sums.log_mass) / b, b, closed}, task);
    task.b = next_b(search, b, round >= kBisect);
  }
}

void write_minimiser(const StateBlock& s, const Room& room, const Task& task,
                     const Column& minimiser) {
  // The value is insensitive to b, P is not: one more evaluation makes b as exact as the value.
  const Lanes b = task.best;
  Task again_task = task;
  again_task.todo = !(task.collapsed | task.certain);
  const Measured here = measure_at(s, room, again_task, b);
  const Estimate again = extrapolate(here.sums, s.radius, b, task.width, here.span);
  const Lanes slope = -select(again.certified, again.b, b) * task.unit;
  for (int a = 0; a < s.actions; ++a) {
    const Shape shape = room.shapes.get(a, task.unit);
    const auto above_low = [&](int i) { return (s.v(a, i) - shape.origin) - shape.low; };
    Lanes mass = 0.0, at_low = 0.0;
    for (int i = 0; i < s.outcomes; ++i) {
      mass += s.p(a, i) * exp(above_low(i) * slope);
      at_low = add_where(above_low(i) == 0.0, at_low, s.p(a, i));
    }
    for (int i = 0; i < s.outcomes; ++i) {
      const Lanes lowest = select(above_low(i) == 0.0, s.p(a, i) / at_low, 0.0);
      const Lanes tilted = s.p(a, i) * exp(above_low(i) * slope) / mass;
      minimiser.set(a * s.outcomes + i, select(task.collapsed, lowest, tilted));
    }
  }
  no_landings(s, minimiser);
  keep_nominal_states(task.certain, s, minimiser);
}

Room room_for(const LaneStates& states, Scratch& scratch) {
  const auto shapes = static_cast<std::size_t>(states.actions) * kShape * kLanes;
  double* numbers = scratch.doubles(shapes + static_cast<std::size_t>(states.outcomes));
  static_assert(sizeof(const double*) == sizeof(double));
  return {Shapes{numbers}, reinterpret_cast<const double**>(numbers + shapes)};
}

// The conjugate of an action at the slope b: the log of the moment-generating function.
struct KlConjugate {
  const double** pointers;

  static constexpr double kPerVariance = 1.0;  // the slope of the mean at b = 0, over the variance

  [[gnu::always_inline]] Conjugate operator()(const StateBlock& s, int action, Lanes b) const {
    const Lanes range = range_of(s, action), unit = inverse_power_below(range);
    const Shape shape = shape_of(s, action, unit);
    const Evaluation e =
        evaluate_anywhere(RowOfAction{&s, action, s.outcomes}, block_of(s, pointers, action), shape,
                          b * power_below(range));
    const Lanes per_b = 1.0 / b;
    return {e.log_mass, -e.c1 * per_b, e.c2 * per_b * per_b};
  }
};

}  // namespace

void state_kl(const LaneStates& states, const StateValues& values, Scratch& scratch, double* worst,
              double* minimiser) {
  const Room room = room_for(states, scratch);
  for_each_state_block(
      states, values, worst, minimiser, [&](const StateBlock& s, const Column* place) {
        Task task = measure(s, room);
        solve(s, room, task, scratch.work);
        if (place != nullptr) write_minimiser(s, room, task, *place);
        const Lanes inside = max(task.mean - task.drop * task.per_unit, task.low);
        const Lanes found = select(task.collapsed, task.low, inside);
        return any(task.certain) ? select(task.certain, s.expectation(), found) : found;
      });
}

void best_kl(const LaneStates& states, const StateValues& values, const double* alone,
             Scratch& scratch, double* best, double* weight) {
  const std::size_t room = best_room(states.actions);
  double* numbers = scratch.doubles(room + static_cast<std::size_t>(states.outcomes));
  ascend(states, values, alone, numbers, best, weight,
         KlConjugate{reinterpret_cast<const double**>(numbers + room)});
}

}  // namespace redoubt::internal::REDOUBT_TARGET
