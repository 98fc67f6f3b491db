#pragma once

#include <random>
#include <vector>

#include "numerics/curves.h"

namespace redoubt::testing {

// How a curve is drawn: up to so many edges, prices within so much of one in the logarithm, and
// edges of such widths.
struct RandomCurve {
  int edges;
  double log_price, narrowest, widest, reward, utility;
};

// A concave curve with the corners that stand outside of it. Where prices change is left open.
std::vector<internal::CurveCorner> random_curve(std::mt19937_64& random, const RandomCurve& drawn);

}  // namespace redoubt::testing
