#include "sets/kernels/block.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

template <class Rows>
void solve(const Rows& rows, const LaneValues& values, double* worst, double* minimiser) {
  for_each_block(rows.outcomes, values, worst, minimiser,
                 [&](const Block& v, const Minimiser* place) {
                   if (place != nullptr)
                     for (int i = 0; i < v.outcomes; ++i) place->set(i, rows.probability(v, i));
                   return expectation(rows.probability, v);
                 });
}

// In the order in which a lane adds.
[[gnu::always_inline]] inline double expected_value(const SparseRows& matrix, std::int64_t row,
                                                    const double* values) {
  double sum = 0;
  const auto end = matrix.row_outcomes[row + 1];
#pragma GCC unroll 1
  for (auto i = matrix.row_outcomes[row]; i < end; ++i)
    sum += matrix.probability[i] * values[matrix.next[i]];
  return sum;
}

}  // namespace

void nominal(const NominalRow& row, const LaneValues& values, Scratch&, double* worst,
             double* minimiser) {
  solve(SharedRow(row), values, worst, minimiser);
}

void nominal(const LaneRows& rows, const LaneValues& values, Scratch&, double* worst,
             double* minimiser) {
  solve(RowOfLane(rows, values.lanes), values, worst, minimiser);
}

void expected_values(const SparseRows& matrix, const RowChoice& chosen, const double* earned,
                     double discount, const double* values, double* result) {
  for (std::int64_t n = 0; n < chosen.count; ++n) {
    const auto row = chosen.list != nullptr ? chosen.list[n] : chosen.first + n;
    result[n] = earned[n] + discount * expected_value(matrix, row, values);
  }
}

// Without a branch on which row is the best, which nobody can predict. Rows that differ by rounding
// alone are rare, and only they are looked at twice.
bool best_expected(const SparseRows& matrix, const RowsOfStates& states, const StateChoice& chosen,
                   const ActionElimination& elimination, const double* values, double* room,
                   double* best, std::int32_t* position) {
  const double sign = states.least ? -1 : 1, unit = states.unit;
  bool exact = true;
  for (std::int32_t n = 0; n < chosen.count; ++n) {
    const auto state = chosen.list != nullptr ? chosen.list[n] : chosen.first + n;
    const auto begin = states.begin[state];
    const auto rows = static_cast<std::int32_t>(states.begin[state + 1] - begin);
    const auto worth = [&](std::int32_t i) __attribute__((always_inline)) {
      return states.earned[begin + i] + states.discount * expected_value(matrix, begin + i, values);
    };
    if (rows > 0 && elimination.skips(state)) {
      best[n] = worth(position[n]);
      continue;
    }
    position[n] = rows - 1;
    if (rows <= 1) {
      best[n] = rows == 1 ? worth(0) : 0;
      if (elimination.until != nullptr) elimination.until[state] = __builtin_inf();
      continue;
    }
    double top = room[0] = sign * worth(0), second = -__builtin_inf();
    std::int32_t taken = 0;
    bool near = false;  // two rows are nearly, and not quite, worth the same
    for (std::int32_t i = 1; i < rows; ++i) {
      const double x = room[i] = sign * worth(i);
      const double gap = __builtin_fabs(x - top), size = __builtin_fabs(x);
      near |= gap > 0 && gap <= 2 * kSameWorth * (size > unit ? size : unit);
      const double lower = x > top ? top : x;
      second = lower > second ? lower : second;
      taken = x > top ? i : taken;
      top = x > top ? x : top;
    }
    if (elimination.until != nullptr) elimination.until[state] = elimination.drift + (top - second);
    if (near) {
      const double size = __builtin_fabs(top), noise = kSameWorth * (size > unit ? size : unit);
      for (taken = 0; top - room[taken] > noise;) ++taken;
      exact &= room[taken] == top;
    }
    best[n] = sign * top;
    position[n] = taken;
  }
  return exact;
}

}  // namespace redoubt::internal::REDOUBT_TARGET
