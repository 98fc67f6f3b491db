#pragma once

#include "numerics/lanes.h"
#include "sets/row.h"

namespace redoubt::REDOUBT_TARGET {

static_assert(kLanes == kLaneBlock);

// A divergence up to this moves the value by less than 1e-15 of the range of the values (chi2 by
// Cauchy's inequality, kl by Pinsker's): the row is its nominal one, and nothing underflows.
inline constexpr double kNoRadius = 1e-30;

// Eight lanes of a row's values.
struct Block {
  const double* const* values;
  int outcomes;
  int lane;

  [[gnu::always_inline]] Lanes operator[](int outcome) const {
    return load(values[outcome] + lane);
  }
};

// Where the minimiser of a block goes.
struct Minimiser {
  double* first;
  int stride;

  [[gnu::always_inline]] void set(int outcome, Lanes probability) const {
    store(first + static_cast<std::size_t>(outcome) * stride, probability);
  }
  [[gnu::always_inline]] Lanes get(int outcome) const {
    return load(first + static_cast<std::size_t>(outcome) * stride);
  }
};

// Calls solve(block, minimiser or null) for each block of lanes; it returns the worst case.
template <class Solve>
[[gnu::always_inline]] inline void for_each_block(const NominalRow& row, const LaneValues& values,
                                                  double* worst, double* minimiser, Solve solve) {
  const int stride = padded_lanes(values.lanes);
  for (int lane = 0; lane < values.lanes; lane += kLanes) {
    const Block block{values.values, row.outcomes, lane};
    const Minimiser place{minimiser != nullptr ? minimiser + lane : nullptr, stride};
    if (minimiser != nullptr) place.set(row.outcomes, 0.0);
    store(worst + lane, solve(block, minimiser != nullptr ? &place : nullptr));
  }
}

// The arithmetic of one block is mostly a chain of dependent steps. Kernels that have such chains
// take this many blocks through each of their stages together, and the chains fill each other's
// waiting time.
inline constexpr int kTogether = 4;

// Task: what a kernel keeps of one block, with the block itself as its member v.
// solve(tasks, count) solves them, worst(task) is the result, distribute(task, place) writes the
// minimiser.
template <class Task, class Solve, class Worst, class Distribute>
[[gnu::always_inline]] inline void solve_together(const NominalRow& row, const LaneValues& values,
                                                  double* worst, double* minimiser, Solve solve,
                                                  Worst worst_of, Distribute distribute) {
  const int stride = padded_lanes(values.lanes);
  Task tasks[kTogether];
  for (int lane = 0; lane < values.lanes;) {
    int count = 0;
    for (; lane < values.lanes && count < kTogether; lane += kLanes)
      tasks[count++].v = {values.values, row.outcomes, lane};
    solve(tasks, count);
    for (int i = 0; i < count; ++i) store(worst + tasks[i].v.lane, worst_of(tasks[i]));
    for (int i = 0; i < count && minimiser != nullptr; ++i)
      distribute(tasks[i], Minimiser{minimiser + tasks[i].v.lane, stride});
  }
}

// The sum in the order of the outcomes: every set uses this one where it needs the nominal mean.
[[gnu::always_inline]] inline Lanes expectation(const double* probability, const Block& v) {
  Lanes sum = 0.0;
  for (int i = 0; i < v.outcomes; ++i) sum += probability[i] * v[i];
  return sum;
}

[[gnu::always_inline]] inline Lanes mass_at(Lanes value, const NominalRow& row, const Block& v) {
  Lanes mass = 0.0;
  for (int i = 0; i < v.outcomes; ++i) mass = add_where(v[i] == value, mass, row.probability[i]);
  return mass;
}

// All mass on the outcomes of value `low`, in their nominal proportions.
[[gnu::always_inline]] inline void put_all_on(Lanes low, const NominalRow& row, const Block& v,
                                              const Minimiser& minimiser) {
  const Lanes mass = mass_at(low, row, v);
  for (int i = 0; i < v.outcomes; ++i)
    minimiser.set(i, select(v[i] == low, row.probability[i] / mass, 0.0));
}

void nominal(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void tv(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void chi2(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void kl(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void tilt(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void interval(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);

}  // namespace redoubt::REDOUBT_TARGET
