#pragma once

#include <algorithm>
#include <cmath>

namespace redoubt::internal {

// What a relative tolerance allows between an answer and its bound. It is relative to the larger of
// the two, and never to less than a thousandth of the spread between what the best and the worst
// policy earn: an optimum of zero is no reason to search for ever, and a constant added to every
// reward is none to stop early. (Without constraints, where the worst policy is not looked for, the
// largest value of a state stands for that spread.) A gap that is small enough in itself is allowed
// at any size.
struct GapTolerance {
  double relative = 0;
  double spread = 0;
  double absolute = 0;

  double allowed(double worst, double bound) const {
    return std::max(absolute,
                    relative * std::max({std::abs(worst), std::abs(bound), 1e-3 * spread}));
  }
};

}  // namespace redoubt::internal
