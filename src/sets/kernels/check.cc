#include "sets/kernels/check.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

typedef double Two __attribute__((vector_size(16)));
typedef double UnalignedTwo __attribute__((vector_size(16), aligned(8), may_alias));

[[gnu::always_inline]] inline bool is_one(double mass, std::int64_t outcomes) {
  return __builtin_fabs(mass - 1) <= kMassRounding * static_cast<double>(outcomes);
}

// Positive, and at most one. What is not a number may pass: it shows in the mass.
[[gnu::always_inline]] inline bool are_in_range(const double* probability, std::int64_t count) {
  Lanes least = 1.0, most = 0.0;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Lanes p = load(probability + i);
    least = min(p, least);
    most = max(p, most);
  }
  bool right = all((least > 0.0) & (most <= 1.0));
#pragma GCC unroll 1
  for (; i < count; ++i) right &= probability[i] > 0 && probability[i] <= 1;
  return right;
}

// Zero times what is not finite is not a number, and stays so in a sum.
[[gnu::always_inline]] inline bool have_no_infinity(const double* numbers, std::int64_t count) {
  Lanes sum = 0.0;
  double rest = 0;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) sum += load(numbers + i) * 0.0;
#pragma GCC unroll 1
  for (; i < count; ++i) rest += numbers[i] * 0.0;
  return all(sum + rest == 0.0);
}

}  // namespace

bool are_below(const std::int32_t* numbers, std::int64_t count, std::uint32_t limit) {
  std::uint32_t most = 0;  // a negative number is a large one
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(numbers[i]);
    most = number > most ? number : most;
  }
  return count == 0 || most < limit;
}

bool are_finite(const double* numbers, std::int64_t count) {
  return have_no_infinity(numbers, count);
}

bool are_distributions(const std::int64_t* row_outcomes, std::int64_t rows,
                       const double* probability) {
  bool right = true;
  for (std::int64_t row = 0; row < rows; ++row) {
    double mass = 0;
#pragma GCC unroll 1
    for (auto i = row_outcomes[row]; i < row_outcomes[row + 1]; ++i) mass += probability[i];
    right &= is_one(mass, row_outcomes[row + 1] - row_outcomes[row]);
  }
  return right && are_in_range(probability + row_outcomes[0], row_outcomes[rows] - row_outcomes[0]);
}

// The row is short: all in one loop over pairs of outcomes. The mass is summed in their order, as
// everywhere.
bool spread(const double* probability, const double* values, int outcomes, double* lanes) {
  double mass = 0;
  Two least = {1, 1}, most = {0, 0}, nothing = {0, 0};
  const auto check = [&](Two p, Two value) __attribute__((always_inline)) {
    least = p < least ? p : least;
    most = p > most ? p : most;
    nothing += value - value;
  };
  int i = 0;
  for (; i + 1 < outcomes; i += 2) {
    const Two p = *reinterpret_cast<const UnalignedTwo*>(probability + i);
    check(p, *reinterpret_cast<const UnalignedTwo*>(values + i));
    mass = mass + p[0] + p[1];
    store(lanes + i * kLanes, values[i]);
    store(lanes + (i + 1) * kLanes, values[i + 1]);
  }
  if (i < outcomes) {
    const double p = probability[i], value = values[i];
    check(Two{p, p}, Two{value, value});
    mass += p;
    store(lanes + i * kLanes, value);
  }
  return is_one(mass, outcomes) && nothing[0] + nothing[1] == 0 && least[0] > 0 && least[1] > 0 &&
         most[0] <= 1 && most[1] <= 1;
}

}  // namespace redoubt::internal::REDOUBT_TARGET
