#pragma once

#include "sets/kernels/block.h"

// Taking a given amount of mass from the highest values downwards, per lane: what total variation
// and interval sets do. Two ways of sweeping lead there, neither of which sorts. `descend` takes
// one value after the other, from the top: best for small amounts. `cut` uses that the value of
// what is taken is the minimum over eta of the convex, piecewise linear function
//     amount * eta + sum over outcomes above eta of mass * (value - eta):
// where the tangents at both ends of a bracket meet, there is the minimum or a better end. About
// log2(outcomes) + 2 sweeps.
namespace redoubt::internal::REDOUBT_TARGET {

constexpr int kMany = 128;  // outcomes, of all rows of a state: more sweeps of `cut`

template <class Number>
struct Taking {
  Block v;
  Number total, amount;   // the mass that there is, and what is taken of it
  Lanes low, high, mean;  // of the values
  // Above eta, or above the right end of the bracket, everything is taken; above its left end there
  // is too much. Both with their sum of mass * value.
  Lanes right_mass, right_sum, left_mass, left_sum;
  Lanes eta;  // what is under examination; in the end, the value of which a part is taken
  Mask todo;
  Mask descends;

  // The value of what is taken.
  [[gnu::always_inline]] Lanes taken() const { return right_sum + eta * (amount - right_mass); }
};

// What one sweep finds: how much lies at eta and above, and the next value below.
struct Reached {
  Lanes mass, next;
};
template <class Number, class Mass, class Value>
[[gnu::always_inline]] inline Reached reach(const Taking<Number>& t, Mass mass, Value value) {
  Lanes down_to_eta = 0.0, next = t.low;
#pragma GCC unroll 2
  for (int i = 0; i < t.v.outcomes; ++i) {
    const Lanes x = value(t.v, i);
    const Mask reached = x >= t.eta;
    down_to_eta = add_where(reached, down_to_eta, mass(t.v, i));
    next = max_unless(reached, next, x);
  }
  return {down_to_eta, next};
}

// Lanes that are not among `these` keep their state, here and below.
template <class Number>
[[gnu::always_inline]] inline void descend(Taking<Number>& t, Mask these, Reached r) {
  const Lanes eta = t.eta;
  const Mask goes_on = these & (r.mass < t.amount) & (t.low < eta);
  t.right_sum = select(goes_on, t.right_sum + (r.mass - t.right_mass) * eta, t.right_sum);
  t.right_mass = select(goes_on, r.mass, t.right_mass);
  t.eta = select(goes_on, r.next, eta);
  t.todo = t.todo & (goes_on | !these);
}

// The other kind of sweep: what lies above eta, a new end of the bracket.
struct Above {
  Lanes mass, sum;
};
template <class Number, class Mass, class Value>
[[gnu::always_inline]] inline Above add_above(const Taking<Number>& t, Mass mass, Value value) {
  Above r{0.0, 0.0};
  for (int i = 0; i < t.v.outcomes; ++i) {
    const Lanes x = value(t.v, i);
    const Mask above = x > t.eta;
    r.mass = add_where(above, r.mass, mass(t.v, i));
    r.sum = add_where(above, r.sum, mass(t.v, i) * x);
  }
  return r;
}

template <class Number>
[[gnu::always_inline]] inline void cut(Taking<Number>& t, Mask these, Above r) {
  // No mass strictly between the ends: all that the bracket still holds is of value eta, up to
  // rounding.
  const Mask goes_on = these & (t.right_mass < r.mass) & (r.mass < t.left_mass);
  const Mask left = goes_on & (r.mass > t.amount), right = goes_on & (r.mass <= t.amount);
  t.left_mass = select(left, r.mass, t.left_mass);
  t.left_sum = select(left, r.sum, t.left_sum);
  t.right_mass = select(right, r.mass, t.right_mass);
  t.right_sum = select(right, r.sum, t.right_sum);
  const Lanes meet = (t.left_sum - t.right_sum) / (t.left_mass - t.right_mass);
  t.eta = select(goes_on, meet, t.eta);
  t.todo = t.todo & (goes_on | !these);
}

// Where the search begins, given amount and total.
template <class Number>
[[gnu::always_inline]] inline void begin(Taking<Number>& t, Lanes low, Lanes high, Lanes mean) {
  t.low = low;
  t.high = high;
  t.mean = mean;
  t.todo = low < high;
  const Lanes much = t.amount * t.v.outcomes;
  const double few = t.v.outcomes < kMany ? 2.0 : 5.0;  // values, on average
  t.descends = much <= few * t.total;
  // The tangents at both ends of the values meet at the mean.
  t.right_mass = t.right_sum = 0.0;
  t.left_mass = t.total;
  t.left_sum = mean;
  t.eta = select(t.todo & !t.descends, mean * (1.0 / t.total), high);
}

// One sweep through N blocks at a time: low, high and mean.
template <int N, class Number, class Mass, class Value>
[[gnu::always_inline]] inline void measure(Taking<Number>* blocks, Mass mass, Value value) {
  Lanes low[N], high[N], mean[N];
#pragma GCC unroll 2
  for (int n = 0; n < N; ++n) {
    low[n] = high[n] = value(blocks[n].v, 0);
    mean[n] = 0.0;
  }
#pragma GCC unroll 2
  for (int i = 0; i < blocks[0].v.outcomes; ++i) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      const Lanes x = value(blocks[n].v, i);
      low[n] = min(x, low[n]);
      high[n] = max(x, high[n]);
      mean[n] += mass(blocks[n].v, i) * x;
    }
  }
#pragma GCC unroll 2
  for (int n = 0; n < N; ++n) begin(blocks[n], low[n], high[n], mean[n]);
}

// Sweeps until every lane knows its eta. Reach and AddAbove: both kinds of sweep over a block, as
// far as they concern the given lanes.
template <class Number, class Reach, class AddAbove>
[[gnu::always_inline]] inline void search(Taking<Number>* blocks, int count, Reach reach,
                                          AddAbove add_above) {
  for (bool more = true; more;) {
    more = false;
    for (int n = 0; n < count; ++n) {
      Taking<Number>& t = blocks[n];
      if (!any(t.todo)) continue;
      more = true;
      const Mask down = t.todo & t.descends, across = t.todo & !t.descends;
      if (any(down)) descend(t, down, reach(t, down));
      if (any(across)) cut(t, across, add_above(t, across));
    }
  }
}

// The same where every sweep is over all outcomes. Mass and Value: of an outcome in a block.
template <class Number, class Mass, class Value>
[[gnu::always_inline]] inline void search_row(Taking<Number>* blocks, int count, Mass mass,
                                              Value value) {
  search(
      blocks, count,
      [&](const Taking<Number>& t, Mask)
          __attribute__((always_inline)) { return reach(t, mass, value); },
      [&](const Taking<Number>& t, Mask)
          __attribute__((always_inline)) { return add_above(t, mass, value); });
}

// Takes `amount`, at most the `total` mass, in several blocks together.
template <class Number, class Mass, class Value>
[[gnu::always_inline]] inline void take_from_top(Taking<Number>* blocks, int count, Mass mass,
                                                 Value value) {
  int first = 0;
  for (; first + 1 < count; first += 2) measure<2>(blocks + first, mass, value);
  if (first < count) measure<1>(blocks + first, mass, value);
  search_row(blocks, count, mass, value);
}

// How much of each outcome is taken. Value by value from the top: the bracket above ignores masses
// that are lost in rounding, and a distribution must not.
template <class Number, class Mass, class Value>
[[gnu::always_inline]] inline void write_taken(const Taking<Number>& t, Mass mass, Value value,
                                               const Minimiser& taken) {
  Lanes amount = t.amount;
  for (int i = 0; i < t.v.outcomes; ++i) taken.set(i, 0.0);
  Lanes height = t.high;
  for (Mask todo = amount > 0.0; any(todo);) {
    Lanes here = 0.0, next = height;
    for (int i = 0; i < t.v.outcomes; ++i) {
      const Lanes x = value(t.v, i);
      here = add_where(x == height, here, mass(t.v, i));
      next = select((x < height) & ((next == height) | (x > next)), x, next);
    }
    const Lanes share = select(todo & (here > 0.0), min(amount / here, 1.0), 0.0);
    for (int i = 0; i < t.v.outcomes; ++i)
      taken.set(i, add_where(value(t.v, i) == height, taken.get(i), share * mass(t.v, i)));
    amount -= share * here;
    todo = todo & (amount > 0.0) & (next < height);
    height = next;
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
