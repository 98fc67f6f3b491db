#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

// Made-up probabilities and values, for the targets that look at worst cases.
namespace redoubt::fuzzing {

inline constexpr double kLargest = 1e12;  // of a value
inline constexpr double kSmallest =
    1e-100;  // of one that is not zero: its square does not underflow
inline constexpr double kLeastProbability = 1e-300;
inline constexpr double kTolerance =
    1e-9;  // as in tests/sets: relative to the spread of the values

inline double fraction(FuzzedDataProvider& input) {
  return input.ConsumeIntegral<std::uint16_t>() / 65535.0;
}

// Any bits at all, where they are a number between the given ones; otherwise the lower one.
inline double any_number(FuzzedDataProvider& input, double low, double high) {
  const double x = std::bit_cast<double>(input.ConsumeIntegral<std::uint64_t>());
  return x >= low && x <= high ? x : low;
}

inline std::vector<double> probabilities(FuzzedDataProvider& input, int outcomes) {
  std::vector<double> p(outcomes);
  const int kind = input.ConsumeIntegralInRange(0, 3);
  for (double& x : p) {
    if (kind == 0) x = 1 + input.ConsumeIntegral<std::uint8_t>();
    if (kind == 1) x = fraction(input);
    if (kind == 2) x = std::pow(10, -300 * fraction(input));
    if (kind == 3) x = any_number(input, 0, 1);
    x = std::max(x, kLeastProbability);
  }
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x = std::max(x / sum, kLeastProbability);
  return p;
}

inline double value(FuzzedDataProvider& input, int kind) {
  switch (kind) {
    case 0:
      return input.ConsumeIntegral<std::int8_t>();  // ties
    case 1:
      return fraction(input);
    case 2:
      return std::pow(10, 6 * fraction(input));
    case 3:
      return 1e6 * input.ConsumeBool() + fraction(input);
    case 4:
      return 1 + 1e-9 * fraction(input);
    default: {
      const double x = any_number(input, -kLargest, kLargest);
      return std::abs(x) < kSmallest ? 0 : x;
    }
  }
}

}  // namespace redoubt::fuzzing
