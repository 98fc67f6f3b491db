#include "solvers/frontier/directions.h"

#include <algorithm>

#include "model/require.h"

namespace redoubt {

Directions::Directions(std::vector<std::vector<double>> prices) : prices_(std::move(prices)) {
  require(constraints() <= kMostConstraints, "{} constraints, the frontier method takes at most {}",
          constraints(), kMostConstraints);
  rays_begin_ = 1;
  for (const auto& list : prices_) rays_begin_ *= static_cast<int>(list.size());
  weights_.assign(static_cast<std::size_t>(size()) * signals(), 0.0);
  for (int d = 0; d < rays_begin_; ++d) {
    weights_[static_cast<std::size_t>(d) * signals()] = 1;
    int rest = d;
    for (int c = constraints(); c-- > 0;) {  // the last constraint varies fastest
      const int count = static_cast<int>(prices_[c].size());
      weights_[static_cast<std::size_t>(d) * signals() + c + 1] = prices_[c][rest % count];
      rest /= count;
    }
  }
  for (int c = 0; c < constraints(); ++c)
    weights_[static_cast<std::size_t>(rays_begin_ + c) * signals() + c + 1] = 1;
}

void Directions::split(const double* q, Parts& parts) const {
  parts.count = 0;
  const double reward = q[0];
  if (reward <= 0) {
    for (int c = 0; c < constraints(); ++c) {
      if (q[c + 1] > 0) parts.add(rays_begin_ + c, q[c + 1]);
    }
    return;
  }
  std::array<int, kMostConstraints> low;
  std::array<double, kMostConstraints> share;  // of the upper neighbour
  for (int c = 0; c < constraints(); ++c) {
    const std::vector<double>& list = prices_[c];
    const double price = q[c + 1] / reward;
    const int last = static_cast<int>(list.size()) - 1;
    if (!(price < list[last])) {
      low[c] = last, share[c] = 0;
      const double excess = q[c + 1] - list[last] * reward;
      if (excess > 0) parts.add(rays_begin_ + c, excess);
      continue;
    }
    low[c] = static_cast<int>(std::upper_bound(list.begin(), list.end(), price) - list.begin()) - 1;
    share[c] = (price - list[low[c]]) / (list[low[c] + 1] - list[low[c]]);
  }
  for (int corner = 0; corner < 1 << constraints(); ++corner) {
    int direction = 0;
    double weight = reward;
    for (int c = 0; c < constraints(); ++c) {
      const bool up = corner >> c & 1;
      weight *= up ? share[c] : 1 - share[c];
      direction = direction * static_cast<int>(prices_[c].size()) + low[c] + (up ? 1 : 0);
    }
    if (weight > 0) parts.add(direction, weight);
  }
}

}  // namespace redoubt
