#include "sets/kernels/check.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

typedef double Two __attribute__((vector_size(16)));

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

// The row is short: all in one loop, without a rest.
bool spread(const double* probability, const double* values, int outcomes, double* lanes,
            const double** pointers) {
  Two sums = {0, 0}, ends = {1, 0};  // mass, and nothing; the least and the negative greatest
#pragma GCC unroll 2
  for (int i = 0; i < outcomes; ++i) {
    const double p = probability[i], value = values[i];
    const Two number = {p, value - value}, both = {p, -p};
    sums += number;
    ends = both < ends ? both : ends;
    pointers[i] = lanes;
    store(lanes, value);
    lanes += kLanes;
  }
  return is_one(sums[0], outcomes) && sums[1] == 0 && ends[0] > 0 && ends[1] >= -1;
}

}  // namespace redoubt::internal::REDOUBT_TARGET
