#include "support/random_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/set_rows.h"

namespace redoubt::testing {

std::vector<internal::CurveCorner> random_curve(std::mt19937_64& random, const RandomCurve& drawn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int edges = pick(random, drawn.edges);
  std::vector<double> price;
  for (int e = 0; e < edges; ++e)
    price.push_back(std::exp(uniform(random, -drawn.log_price, drawn.log_price)));
  std::sort(price.begin(), price.end());
  std::vector<internal::CurveCorner> corners(edges + 3);
  double reward = uniform(random, 0, drawn.reward);
  double utility = uniform(random, -drawn.utility, drawn.utility);
  for (int c = 0; c <= edges; ++c) {
    corners[c + 1] = {reward, utility, kInfinity, kInfinity, kInfinity, kInfinity, 0};
    if (c == edges) break;
    const double width = uniform(random, drawn.narrowest, drawn.widest);
    corners[c + 1].price = price[c];
    corners[c + 1].log_price = std::log(price[c]);
    reward -= price[c] * width;
    utility += width;
  }
  corners.front() = {corners[1].reward, corners[1].utility, -kInfinity, -kInfinity,
                     -kInfinity,        -kInfinity,         0};
  corners.back() = corners[edges + 1];
  return corners;
}

}  // namespace redoubt::testing
