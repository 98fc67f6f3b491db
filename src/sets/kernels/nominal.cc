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

// What rows are worth. By value: what a loop needs of it stays in registers.
struct Worth {
  const std::int64_t* row_outcomes;
  const std::int32_t* next;
  const double* probability;
  const double* values;

  // In the order in which a lane adds.
  [[gnu::always_inline]] double expected(std::int64_t row) const {
    double sum = 0;
    const auto end = row_outcomes[row + 1];
#pragma GCC unroll 1
    for (auto i = row_outcomes[row]; i < end; ++i) sum += probability[i] * values[next[i]];
    return sum;
  }
};
[[gnu::always_inline]] inline Worth worth_of(const SparseRows& matrix, const double* values) {
  return {matrix.row_outcomes, matrix.next, matrix.probability, values};
}

// What takes the best of its rows. Each of its loops is a function of its own, so that none of them
// has more to keep than there are registers.
struct BestOfRows {
  Worth rows;
  RowsOfStates states;
  StateChoice chosen;
  ActionElimination elimination;
  double* room;
  double* best;
  std::int32_t* position;
  bool exact = true;

  [[gnu::always_inline]] std::int32_t state_at(std::int32_t n) const {
    return chosen.list != nullptr ? chosen.list[n] : chosen.first + n;
  }

  // Those from number n on of which one row is looked at, as long as they follow each other.
  // Returns the number of the first of which more are.
  [[gnu::noinline]] std::int32_t take_one_row(std::int32_t n) const {
    const BestOfRows self = *this;
    for (; n < self.chosen.count; ++n) {
      const auto state = self.state_at(n);
      auto row = self.states.begin[state];
      const auto count = self.states.begin[state + 1] - row;
      if (count > 1) {
        if (!self.elimination.skips(state)) break;
        row += self.position[n];
      } else {
        self.position[n] = static_cast<std::int32_t>(count - 1);
        if (self.elimination.until != nullptr) self.elimination.until[state] = __builtin_inf();
        if (count == 0) {
          self.best[n] = 0;
          continue;
        }
      }
      self.best[n] = self.states.earned[row] + self.states.discount * self.rows.expected(row);
    }
    return n;
  }

  // The same for those of which all rows are looked at. Without a branch on which row is the best,
  // which nobody can predict. Rows that differ by rounding alone are rare, and only they are looked
  // at twice.
  [[gnu::noinline]] std::int32_t take_best_row(std::int32_t n) {
    const BestOfRows self = *this;
    const double sign = self.states.least ? -1 : 1, unit = self.states.unit;
    for (; n < self.chosen.count; ++n) {
      const auto state = self.state_at(n);
      const auto begin = self.states.begin[state];
      const auto count = static_cast<std::int32_t>(self.states.begin[state + 1] - begin);
      if (count <= 1 || self.elimination.skips(state)) break;
      const auto worth = [&](std::int32_t i) __attribute__((always_inline)) {
        const auto row = begin + i;
        return sign * (self.states.earned[row] + self.states.discount * self.rows.expected(row));
      };
      double top = self.room[0] = worth(0), second = -__builtin_inf();
      std::int32_t taken = 0;
      bool near = false;  // two rows are nearly, and not quite, worth the same
      for (std::int32_t i = 1; i < count; ++i) {
        const double x = self.room[i] = worth(i);
        const double gap = __builtin_fabs(x - top), size = __builtin_fabs(x);
        near |= gap > 0 && gap <= 2 * kSameWorth * (size > unit ? size : unit);
        const double lower = x > top ? top : x;
        second = lower > second ? lower : second;
        taken = x > top ? i : taken;
        top = x > top ? x : top;
      }
      if (self.elimination.until != nullptr)
        self.elimination.until[state] = self.elimination.drift + (top - second);
      if (near) {
        const double size = __builtin_fabs(top), noise = kSameWorth * (size > unit ? size : unit);
        for (taken = 0; top - self.room[taken] > noise;) ++taken;
        exact &= self.room[taken] == top;
      }
      self.best[n] = sign * top;
      self.position[n] = taken;
    }
    return n;
  }
};

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
  const Worth worth = worth_of(matrix, values);
  for (std::int64_t n = 0; n < chosen.count; ++n) {
    const auto row = chosen.list != nullptr ? chosen.list[n] : chosen.first + n;
    result[n] = earned[n] + discount * worth.expected(row);
  }
}

bool best_expected(const SparseRows& matrix, const RowsOfStates& states, const StateChoice& chosen,
                   const ActionElimination& elimination, const double* values, double* room,
                   double* best, std::int32_t* position) {
  BestOfRows of{worth_of(matrix, values), states, chosen, elimination, room, best, position};
  for (std::int32_t n = 0; n < chosen.count;) n = of.take_best_row(of.take_one_row(n));
  return of.exact;
}

}  // namespace redoubt::internal::REDOUBT_TARGET
