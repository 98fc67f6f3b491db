#include <array>
#include <utility>

#include "sets/kernels/block.h"

// The best rows of states whose rows look alike. A processor cannot guess where a row of one or two
// outcomes ends, and a wrong guess takes longer than the row; here there is nothing to guess, and
// what is read lies side by side.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

// What row number `row` of every state is worth, in the order in which a lane adds.
template <int outcomes>
void worth_of(const AlikeStates& a, int row, double sign, double discount, const double* values,
              double* __restrict worth) {
  const auto count = static_cast<std::int64_t>(a.states);
  const std::int32_t* next = a.next + row * outcomes * count;
  const double* probability = a.probability + row * outcomes * count;
  const double* earned = a.earned + row * count;
  for (std::int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int n = 0; n < outcomes; ++n)
      sum += probability[n * count + i] * values[next[n * count + i]];
    worth[i] = sign * (earned[i] + discount * sum);
  }
}

void worth_of_row(const AlikeStates& a, int row, double sign, double discount, const double* values,
                  double* worth) {
  constexpr auto by_outcomes = []<int... n>(std::integer_sequence<int, n...>) {
    return std::array{worth_of<n + 1>...};
  }
  (std::make_integer_sequence<int, AlikeStates::kMostOutcomes>());
  by_outcomes[a.outcomes - 1](a, row, sign, discount, values, worth);
}

// The first row of state i that is worth as much as the best but for rounding; true when it is the
// best.
bool first_of_equals(const double (*worth)[AlikeStates::kMost], std::int64_t i, double top,
                     double unit, std::int32_t& taken) {
  const double size = __builtin_fabs(top), noise = kSameWorth * (size > unit ? size : unit);
  for (taken = 0; top - worth[taken][i] > noise;) ++taken;
  return worth[taken][i] == top;
}

}  // namespace

bool best_alike(const AlikeStates& a, double discount, double unit, bool least,
                const double* values, double* best, std::int32_t* position) {
  alignas(64) double worth[AlikeStates::kMostRows][AlikeStates::kMost];
  alignas(64) double top[AlikeStates::kMost];
  alignas(64) double taken[AlikeStates::kMost], near[AlikeStates::kMost];  // numbers, as all others
  const double sign = least ? -1 : 1;
  const std::int64_t count = a.states;
  worth_of_row(a, 0, sign, discount, values, worth[0]);
  if (a.rows == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      best[a.place[i]] = sign * worth[0][i];
      position[a.place[i]] = 0;
    }
    return true;
  }
  double any_near = 0;
  for (std::int64_t i = 0; i < count; ++i) top[i] = worth[0][i], taken[i] = near[i] = 0;
  for (int row = 1; row < a.rows; ++row) {
    worth_of_row(a, row, sign, discount, values, worth[row]);
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = worth[row][i], gap = __builtin_fabs(x - top[i]), size = __builtin_fabs(x);
      const double noise = 2 * kSameWorth * (size > unit ? size : unit);
      near[i] = ((gap > 0) & (gap <= noise)) ? 1.0 : near[i];
      taken[i] = x > top[i] ? row : taken[i];
      top[i] = x > top[i] ? x : top[i];
    }
  }
  for (std::int64_t i = 0; i < count; ++i) any_near += near[i];
  bool exact = true;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int32_t row = static_cast<std::int32_t>(taken[i]);
    if (any_near > 0 && near[i] > 0) exact &= first_of_equals(worth, i, top[i], unit, row);
    best[a.place[i]] = sign * top[i];
    position[a.place[i]] = row;
  }
  return exact;
}

}  // namespace redoubt::internal::REDOUBT_TARGET
