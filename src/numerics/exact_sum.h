#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>

namespace redoubt::internal {

// Sums that do not depend on the order of their terms, so that any number of ranks finds the same
// bits. Terms are rounded to multiples of a unit, which is far below what matters, and added as
// whole numbers.
class ExactSum {
 public:
  __extension__ using Whole = __int128;

  // The unit for terms of this size: terms may be 2^20 times as large, or 2^80 times as small.
  static double unit_for(double size) { return std::exp2(std::floor(std::log2(size)) - 80); }

  void add(double term, double unit) {
    const double units = std::clamp(term / unit, -0x1p100, 0x1p100);
    // In two halves that fit a register; together they round towards zero, as one would.
    const auto high = static_cast<std::int64_t>(units * 0x1p-40);
    const auto low = static_cast<std::int64_t>(units - static_cast<double>(high) * 0x1p40);
    whole_ += static_cast<Whole>(high) * (Whole{1} << 40) + low;
  }
  void add(const ExactSum& other) { whole_ += other.whole_; }
  double value(double unit) const { return static_cast<double>(whole_) * unit; }
  auto operator<=>(const ExactSum&) const = default;

 private:
  Whole whole_ = 0;
};

// Rounds terms to multiples of 2^-48 of a size. Sums of up to 16 times that size are then exact in
// double precision, in any order.
class Grid {
 public:
  explicit Grid(double size) : far_(1.5 * std::exp2(std::ceil(std::log2(size)) + 4)) {}
  double operator()(double term) const { return (term + far_) - far_; }

 private:
  double far_;
};

}  // namespace redoubt::internal
