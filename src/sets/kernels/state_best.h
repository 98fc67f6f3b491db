#pragma once

#include "sets/kernels/state_block.h"

// The best weights of the actions of a state whose rows share one radius. With the conjugate of
// action a's distance,
//     phi_a(b) = max over P of -b P.v - D(P, p_a),
// weights b_a / sum b guarantee F(b) = -(radius + sum phi_a(b_a)) / sum b for every b >= 0, and the
// largest F is the value of the state. There, the mean of every action that counts is F under its
// maximising P: it is what nature brings all of them down to. Each round takes F for that value and
// makes one Newton step of every b_a towards it.
namespace redoubt::internal::REDOUBT_TARGET {

struct Conjugate {
  Lanes value;  // phi_a(b) + b * nominal mean
  Lanes mean;   // under the maximising P, less the nominal one
  Lanes slope;  // by how much it falls with b
};

// Weights from b; where no mixture is better than the best action alone, that one.
inline void finish_best(const StateBlock& s, const ConstColumn& alone, Lanes start, Lanes found,
                        const Column& weight) {
  const Mask mixed = found > start;
  Lanes total = 0.0;
  for (int a = 0; a < s.actions; ++a) total += weight.get(a);
  Mask open = !mixed;
  for (int a = 0; a < s.actions; ++a) {
    const Mask best = open & (alone.get(a) == start);
    weight.set(a, select(mixed, weight.get(a) / total, select(best, 1.0, 0.0)));
    open = open & !best;
  }
}

// What is known of an action, [action][number][lane]; means are relative to the first value that
// was known of the state.
struct BestAction {
  Lanes nominal, b, upper;  // nominal mean; where to evaluate next; no b above this can be right
  Lanes mean, slope;        // at b
};
inline constexpr int kBestAction = 5;

struct BestActions {
  double* first;

  [[gnu::always_inline]] BestAction get(int action) const {
    const double* at = first + static_cast<std::size_t>(action) * kBestAction * kLanes;
    return {load(at), load(at + kLanes), load(at + 2 * kLanes), load(at + 3 * kLanes),
            load(at + 4 * kLanes)};
  }
  [[gnu::always_inline]] void set(int action, const BestAction& k) const {
    double* at = first + static_cast<std::size_t>(action) * kBestAction * kLanes;
    store(at, k.nominal);
    store(at + kLanes, k.b);
    store(at + 2 * kLanes, k.upper);
    store(at + 3 * kLanes, k.mean);
    store(at + 4 * kLanes, k.slope);
  }
};

// Where every b begins: with the slope that the mean has at b = 0. The largest range of an action.
template <class Conjugates>
[[gnu::always_inline]] inline Lanes begin_best(const StateBlock& s, const BestActions& actions,
                                               Lanes start, const Conjugates&) {
  Lanes range = 0.0;
  for (int a = 0; a < s.actions; ++a) {
    Lanes low = s.v(a, 0), high = low, mean = 0.0, variance = 0.0;
    for (int i = 0; i < s.outcomes; ++i) {
      low = min(s.v(a, i), low);
      high = max(s.v(a, i), high);
      mean += s.p(a, i) * (s.v(a, i) - start);
    }
    for (int i = 0; i < s.outcomes; ++i) {
      const Lanes x = (s.v(a, i) - start) - mean;
      variance += s.p(a, i) * x * x;
    }
    const Mask counts = (mean > 0.0) & (low < high) & (variance > 0.0);
    const Lanes b = mean / (Conjugates::kPerVariance * variance);
    range = max(range, high - low);
    actions.set(a, {mean, select(counts, b, 0.0), __builtin_inf(), 0.0, 0.0});
  }
  return range;
}

// One Newton step of b towards the mean x.
[[gnu::always_inline]] inline Lanes step_to(const BestAction& k, Lanes x) {
  const Lanes newton = k.b + (k.mean - x) / max(k.slope, 1e-300);
  const Lanes near = min(max(newton, 0.125 * k.b), 8.0 * k.b);
  const Lanes inside = select(near < k.upper, near, sqrt(k.b) * sqrt(k.upper));
  return select(k.nominal > x, inside, 0.0);
}

// `numbers` is room for `best_room` of them.
constexpr std::size_t best_room(int actions) {
  return static_cast<std::size_t>(actions) * kBestAction * kLanes;
}
template <class Conjugates>
[[gnu::always_inline]] inline void ascend(const LaneStates& states, const StateValues& values,
                                          const double* alone, double* numbers, double* best,
                                          double* weight, const Conjugates& conjugate) {
  constexpr int kMost = 100;
  constexpr double kTolerance = 1e-14;  // of the range of the values
  const int stride = padded_lanes(values.lanes);
  const BestActions actions{numbers};
  for (int lane = 0; lane < values.lanes; lane += kLanes) {
    const StateBlock s(states, values, lane);
    const ConstColumn single{alone + lane, stride};
    const Column found{weight + lane, stride};
    Lanes start = single.get(0);
    for (int a = 1; a < s.actions; ++a) start = max(single.get(a), start);
    const Lanes range = begin_best(s, actions, start, conjugate);
    for (int a = 0; a < s.actions; ++a) found.set(a, 0.0);
    Lanes x = 0.0;  // the value of the state less `start`
    Mask todo = s.radius > kNoRadius;
    for (int round = 0; round < kMost && any(todo); ++round) {
      Lanes sum = -s.radius, total = 0.0;
      for (int a = 0; a < s.actions; ++a) {
        BestAction k = actions.get(a);
        const Mask counts = todo & (k.b > 0.0);
        if (!any(counts)) continue;
        const Conjugate c = conjugate(s, a, select(counts, k.b, 1.0));
        sum = add_where(counts, sum, k.b * k.nominal - c.value);
        total = add_where(counts, total, k.b);
        k.mean = k.nominal + c.mean;
        k.slope = c.slope;
        actions.set(a, k);
      }
      todo = todo & (total > 0.0);
      const Lanes here = sum / total;
      const Mask better = todo & (here > x);
      x = select(better, here, x);
      Lanes gain = 0.0;  // that the next round can bring, about
      for (int a = 0; a < s.actions; ++a) {
        BestAction k = actions.get(a);
        const Mask counts = todo & (k.b > 0.0);
        const Lanes miss = k.mean - x;
        found.set(a, select(better, k.b, found.get(a)));
        gain = add_where(counts, gain, miss * miss / (2.0 * max(k.slope, 1e-300)));
        k.upper = select(counts & (miss < 0.0), min(k.upper, k.b), k.upper);
        k.b = select(counts, step_to(k, x), k.b);
        actions.set(a, k);
      }
      todo = todo & (gain > kTolerance * range * total);
    }
    x = start + x;
    finish_best(s, single, start, x, found);
    store(best + lane, x);
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
