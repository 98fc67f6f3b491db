#pragma once

// exp, expm1, log and log1p of eight lanes, to about one unit in the last place. The polynomials
// are minimax fits, evaluated without branches. There is no handling of what the kernels never
// pass: see the range above each function.

#include "numerics/lanes.h"

namespace redoubt::internal::REDOUBT_TARGET {

inline constexpr double kRound =
    0x1.8p52;  // x + kRound holds the nearest integer to x in its low bits

// x / log(2) rounded to an integer, plus kRound.
[[gnu::always_inline]] inline Lanes rounded_binary_exponent(Lanes x) {
  return x * 0x1.71547652b82fep0 + kRound;
}

// 2^count, of count + kRound.
[[gnu::always_inline]] inline Lanes power_of_two(Lanes rounded) {
  return from_bits(shift_left(bits(rounded), 52) + (std::uint64_t{1023} << 52));
}

// expm1(x - count * log(2)), of x and count + kRound.
[[gnu::always_inline]] inline Lanes expm1_of_rest(Lanes x, Lanes rounded) {
  constexpr double kLog2Head = 0x1.62e42fefa0000p-1, kLog2Tail = 0x1.cf79abc9e3b39p-40;
  const Lanes count = rounded - kRound;
  const Lanes r = (x - count * kLog2Head) - count * kLog2Tail;
  Lanes p = 2.5000061602835666699e-8;
  p = p * r + 2.7630248379211443975e-7;
  p = p * r + 2.7557586373840163694e-6;
  p = p * r + 2.4801493098906550659e-5;
  p = p * r + 1.9841269506578687653e-4;
  p = p * r + 1.3888888943630112946e-3;
  p = p * r + 8.3333333334944616641e-3;
  p = p * r + 4.1666666666530158590e-2;
  p = p * r + 1.6666666666666412523e-1;
  p = p * r + 5.0000000000000106271e-1;
  return r + r * r * p;
}

// The exp of less is flushed to zero: clamping it would leave mass behind.
inline constexpr double kSmallestExponent = -708;

// x <= 709.
[[gnu::always_inline]] inline Lanes exp(Lanes x) {
  const Lanes rounded = rounded_binary_exponent(x), power = power_of_two(rounded);
  return select(x < kSmallestExponent, 0.0, expm1_of_rest(x, rounded) * power + power);
}

// -708 <= x <= 709.
[[gnu::always_inline]] inline Lanes expm1(Lanes x) {
  const Lanes rounded = rounded_binary_exponent(x), power = power_of_two(rounded);
  return expm1_of_rest(x, rounded) * power + (power - 1.0);
}

// A logarithm is count * log(2) + log(1 + fraction), where 1 + fraction is in [sqrt(1/2), sqrt(2)).
struct ReducedLogarithm {
  Lanes count, fraction;
};

[[gnu::always_inline]] inline ReducedLogarithm reduce_log(Lanes x) {
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
  const Integers exponent = (bits(x) + -kSqrtHalf) & (std::uint64_t{0xfff} << 52);
  const Lanes mantissa = from_bits(bits(x) - exponent);
  constexpr std::uint64_t kRoundBits = 0x4338000000000000;
  const Lanes count = from_bits(arithmetic_shift_right(exponent, 52) + kRoundBits) - kRound;
  return {count, mantissa - 1.0};
}

// Near zero the fraction of 1 + x is x itself: (1 + x) - 1 would have lost its digits.
[[gnu::always_inline]] inline ReducedLogarithm reduce_log1p(Lanes x) {
  const ReducedLogarithm r = reduce_log(1.0 + x);
  return {r.count, select(r.count == 0.0, x, r.fraction)};
}

// The logarithm, of s = fraction / (2 + fraction): log(1 + fraction) = 2 atanh(s). The partition is
// left to the caller, who may have others to do.
[[gnu::always_inline]] inline Lanes assemble_log(Lanes count, Lanes s) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1;
  const Lanes z = s * s;
  Lanes p = 0.14796728728740923668;
  p = p * z + 0.15313976913957278920;
  p = p * z + 0.18183567031831031217;
  p = p * z + 0.22222198524615833238;
  p = p * z + 0.28571428742824794815;
  p = p * z + 0.39999999999412887089;
  p = p * z + 0.66666666666667346536;
  return count * kLog2 + (2.0 * s + s * z * p);
}

// x positive, finite and not denormal.
[[gnu::always_inline]] inline Lanes log(Lanes x) {
  const ReducedLogarithm r = reduce_log(x);
  return assemble_log(r.count, r.fraction / (2.0 + r.fraction));
}

// x > -1. Accurate relative to the result, also near zero.
[[gnu::always_inline]] inline Lanes log1p(Lanes x) {
  const ReducedLogarithm r = reduce_log1p(x);
  return assemble_log(r.count, r.fraction / (2.0 + r.fraction));
}

}  // namespace redoubt::internal::REDOUBT_TARGET
