#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "redoubt/advanced/ranks.h"

namespace redoubt::internal {

// How far one sweep from v to u = T v moved the values of all states.
struct Residual {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  double low = kNone, high = -kNone;    // of u - v
  double least = kNone, most = -kNone;  // of u
  bool numbers = true;                  // all changes are: the rest does not see one that is not

  void add(double before, double after) {
    const double change = after - before;
    numbers &= change == change;
    low = std::min(low, change);
    high = std::max(high, change);
    least = std::min(least, after);
    most = std::max(most, after);
  }
  void add(const Residual& other);
  void add(const double* before, const double* after, std::int64_t count);
};
void add_over_ranks(Communicator& ranks, Residual& residual);

// The fixed point of T lies between u + low and u + high, in every state. (MacQueen's bounds.)
// Nothing is known of it when a change is not a number.
//
// They hold for every T that is monotone and for which, in all states but terminal ones,
// T(v + c) = T v + discount * c: because T v <= v + high, applying T again and again adds at most
// discount * high, discount^2 * high and so on, in sum high * discount / (1 - discount). Terminal
// states keep the value 0, so that low <= 0 <= high where there are any, and the equation need hold
// as an inequality only. The best of rows and the worst case of a set of distributions are such;
// `tilt`, which is not monotone, is not.
struct Bracket {
  double low = 0, high = 0;

  double middle() const { return low + (high - low) / 2; }
  double width() const { return high - low; }
};
inline Bracket bracket(const Residual& residual, double discount) {
  if (!residual.numbers) return {-Residual::kNone, Residual::kNone};
  const double rest = discount / (1 - discount);
  return {rest * residual.low, rest * residual.high};
}

// The largest size of a value at the fixed point, about.
double scale(const Residual& residual, const Bracket& bracket);

}  // namespace redoubt::internal
