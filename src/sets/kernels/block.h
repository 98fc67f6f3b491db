#pragma once

#include "numerics/lanes.h"
#include "sets/row.h"

namespace redoubt::internal::REDOUBT_TARGET {

static_assert(kLanes == kLaneBlock);

// A divergence up to this moves the value by less than 1e-15 of the range of the values (chi2 by
// Cauchy's inequality, kl by Pinsker's): the row is its nominal one, and nothing underflows.
inline constexpr double kNoRadius = 1e-30;

// Values that differ by less are one value: so small a number has no inverse, and nothing that is
// computed from it means anything.
inline constexpr double kNoRange = 1e-290;

// Eight lanes of a row's values.
struct Block {
  const double* const* values;
  int outcomes;
  int lane;

  [[gnu::always_inline]] Lanes operator[](int outcome) const {
    return load(values[outcome] + lane);
  }
};

// A number for each outcome of a row: the same in all lanes of a block, or one for each lane.
struct SharedNumbers {
  const double* first;

  [[gnu::always_inline]] double operator()(const Block&, int outcome) const {
    return first[outcome];
  }
};
struct LaneNumbers {
  const double* first;
  int stride;

  [[gnu::always_inline]] Lanes operator()(const Block& v, int outcome) const {
    return load(first + static_cast<std::size_t>(outcome) * stride + v.lane);
  }
};

// What lanes are the values of: one row for all of them, or a row for each. Kernels are written
// once, for either. Every operation is the same in both, so a row has the same worst case.
struct SharedRow {
  using Number = double;
  using Numbers = SharedNumbers;
  int outcomes;
  Numbers probability, lower, upper;
  double common_radius;

  explicit SharedRow(const NominalRow& row)
      : outcomes(row.outcomes),
        probability{row.probability},
        lower{row.lower},
        upper{row.upper},
        common_radius(row.radius) {}
  [[gnu::always_inline]] double radius(const Block&) const { return common_radius; }
};
struct RowOfLane {
  using Number = Lanes;
  using Numbers = LaneNumbers;
  int outcomes;
  Numbers probability, lower, upper;
  const double* radii;

  RowOfLane(const LaneRows& rows, int lanes)
      : outcomes(rows.outcomes),
        probability{rows.probability, padded_lanes(lanes)},
        lower{rows.lower, padded_lanes(lanes)},
        upper{rows.upper, padded_lanes(lanes)},
        radii(rows.radius) {}
  [[gnu::always_inline]] Lanes radius(const Block& v) const { return load(radii + v.lane); }
};

[[gnu::always_inline]] inline double lesser(double a, double b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Lanes lesser(Lanes a, Lanes b) { return min(a, b); }

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
[[gnu::always_inline]] inline void for_each_block(int outcomes, const LaneValues& values,
                                                  double* worst, double* minimiser, Solve solve) {
  const int stride = padded_lanes(values.lanes);
  for (int lane = 0; lane < values.lanes; lane += kLanes) {
    const Block block{values.values, outcomes, lane};
    const Minimiser place{minimiser != nullptr ? minimiser + lane : nullptr, stride};
    if (minimiser != nullptr) place.set(outcomes, 0.0);
    store(worst + lane, solve(block, minimiser != nullptr ? &place : nullptr));
  }
}

// The arithmetic of one block is mostly a chain of dependent steps. Kernels that have such chains
// take this many blocks through each of their stages together, and the chains fill each other's
// waiting time.
inline constexpr int kTogether = 4;

// Task: what a lane kernel keeps of one block, with the block itself as its member v.
// solve(tasks, count) solves them, worst(task) is the result, distribute(task, place) writes the
// minimiser.
template <class Task, class Solve, class Worst, class Distribute>
[[gnu::always_inline]] inline void solve_together(int outcomes, const LaneValues& values,
                                                  double* worst, double* minimiser, Solve solve,
                                                  Worst worst_of, Distribute distribute) {
  const int stride = padded_lanes(values.lanes);
  Task tasks[kTogether];
  for (int lane = 0; lane < values.lanes;) {
    int count = 0;
    for (; lane < values.lanes && count < kTogether; lane += kLanes)
      tasks[count++].v = {values.values, outcomes, lane};
    solve(tasks, count);
    for (int i = 0; i < count; ++i) store(worst + tasks[i].v.lane, worst_of(tasks[i]));
    for (int i = 0; i < count && minimiser != nullptr; ++i)
      distribute(tasks[i], Minimiser{minimiser + tasks[i].v.lane, stride});
  }
}

// The sum in the order of the outcomes: every set uses this one where it needs the nominal mean.
template <class Numbers>
[[gnu::always_inline]] inline Lanes expectation(Numbers probability, const Block& v) {
  Lanes sum = 0.0;
  for (int i = 0; i < v.outcomes; ++i) sum += probability(v, i) * v[i];
  return sum;
}

template <class Rows>
[[gnu::always_inline]] inline Lanes mass_at(Lanes value, const Rows& rows, const Block& v) {
  Lanes mass = 0.0;
  for (int i = 0; i < v.outcomes; ++i)
    mass = add_where(v[i] == value, mass, rows.probability(v, i));
  return mass;
}

// All mass on the outcomes of value `low`, in their nominal proportions.
template <class Rows>
[[gnu::always_inline]] inline void put_all_on(Lanes low, const Rows& rows, const Block& v,
                                              const Minimiser& minimiser) {
  const Lanes mass = mass_at(low, rows, v);
  for (int i = 0; i < v.outcomes; ++i)
    minimiser.set(i, select(v[i] == low, rows.probability(v, i) / mass, 0.0));
}

// Lanes whose rows are certain keep their nominal expectation and distribution.
template <class Rows>
[[gnu::always_inline]] inline Lanes mean_where(Mask certain, const Rows& rows, const Block& v,
                                               Lanes worst) {
  return any(certain) ? select(certain, expectation(rows.probability, v), worst) : worst;
}
template <class Rows>
[[gnu::always_inline]] inline void keep_nominal_where(Mask certain, const Rows& rows,
                                                      const Block& v, const Minimiser& minimiser) {
  if (!any(certain)) return;
  for (int i = 0; i < v.outcomes; ++i)
    minimiser.set(i, select(certain, rows.probability(v, i), minimiser.get(i)));
  minimiser.set(v.outcomes, select(certain, 0.0, minimiser.get(v.outcomes)));
}

void nominal(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void nominal(const LaneRows&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void tv(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void tv(const LaneRows&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void chi2(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void chi2(const LaneRows&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void kl(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void kl(const LaneRows&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void tilt(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void tilt(const LaneRows&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void interval(const NominalRow&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void interval(const LaneRows&, const LaneValues&, Scratch&, double* worst, double* minimiser);
void expected_values(const SparseRows&, const RowChoice&, const double* earned, double discount,
                     const double* values, double* result);
bool best_expected(const SparseRows&, const RowsOfStates&, const StateChoice&,
                   const ActionElimination&, const double* values, double* room, double* best,
                   std::int32_t* position);
bool best_alike(const AlikeStates&, double discount, double unit, bool least, const double* values,
                double* best, std::int32_t* position);
void lay_out(const RowsInStorage&, const double* numbers, double* to);
void lay_out_values(const RowsInStorage&, const std::int32_t* next, const double* values,
                    double* to);

}  // namespace redoubt::internal::REDOUBT_TARGET
