#pragma once

// exp, expm1, log and log1p of eight lanes, to about one unit in the last place. The polynomials
// are minimax fits, evaluated without branches. There is no handling of what the kernels never
// pass: see the range above each function.

#include "numerics/lanes.h"

namespace redoubt::REDOUBT_TARGET {

// x = count * log(2) + rest with |rest| <= log(2) / 2, and expm1(rest).
struct ReducedExponential {
  Lanes expm1_of_rest;
  Lanes power;  // 2^count
};

[[gnu::always_inline]] inline ReducedExponential reduce_exponential(Lanes x) {
  constexpr double kRound = 0x1.8p52;  // adding it leaves an integer in the low bits of the sum
  constexpr double kLog2Head = 0x1.62e42fefa0000p-1, kLog2Tail = 0x1.cf79abc9e3b39p-40;
  const Lanes shifted = x * 0x1.71547652b82fep0 + kRound;
  const Lanes count = shifted - kRound;
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
  const Lanes power = from_bits(shift_left(bits(shifted), 52) + (std::int64_t{1023} << 52));
  return {r + r * r * p, power};
}

inline constexpr double kSmallestExponent =
    -708;  // exp of less is flushed to zero: clamping it would leave mass behind

// x <= 709.
[[gnu::always_inline]] inline Lanes exp(Lanes x) {
  const auto [expm1_of_rest, power] = reduce_exponential(x);
  return select(x < kSmallestExponent, 0.0, expm1_of_rest * power + power);
}

// x <= 709.
[[gnu::always_inline]] inline Lanes expm1(Lanes x) {
  const auto [expm1_of_rest, power] = reduce_exponential(x);
  return select(x < kSmallestExponent, -1.0, expm1_of_rest * power + (power - 1.0));
}

// x = 2^count * (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)).
struct ReducedLogarithm {
  Lanes count;
  Lanes fraction;
};

[[gnu::always_inline]] inline ReducedLogarithm reduce_logarithm(Lanes x) {
  constexpr std::int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
  constexpr std::int64_t kExponentBits = std::int64_t{0xfff} << 52;
  const Integers exponent = (bits(x) + -kSqrtHalf) & kExponentBits;
  const Lanes mantissa = from_bits(bits(x) - exponent);
  // The exponent field as a number: put it in the low bits of 1.5 * 2^52, then take that away.
  constexpr double kRound = 0x1.8p52;
  const Lanes count = from_bits(arithmetic_shift_right(exponent, 52) + 0x4338000000000000) - kRound;
  return {count, mantissa - 1.0};
}

// count * log(2) + log(1 + f)
[[gnu::always_inline]] inline Lanes assemble_logarithm(Lanes count, Lanes f) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1;
  const Lanes s = f / (2.0 + f);  // log(1 + f) = 2 atanh(s)
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
  const auto [count, fraction] = reduce_logarithm(x);
  return assemble_logarithm(count, fraction);
}

// x > -1. Accurate relative to the result also near zero: there the fraction is x itself, not (1 +
// x) - 1.
[[gnu::always_inline]] inline Lanes log1p(Lanes x) {
  const auto [count, fraction] = reduce_logarithm(1.0 + x);
  return assemble_logarithm(count, select(count == 0.0, x, fraction));
}

}  // namespace redoubt::REDOUBT_TARGET
