#include "solvers/frontier/sets/directions.h"

#include <algorithm>

#include "support/require.h"

namespace redoubt::internal {

Directions::Directions(int constraints, const std::vector<double>& weights)
    : signals_(constraints + 1), begin_({}) {
  require(constraints <= kMostConstraints, "{} constraints, the frontier method takes at most {}",
          constraints, kMostConstraints);
  const std::size_t listed = weights.size() / signals_;
  std::vector<std::vector<std::vector<double>>> of_lead(signals_);
  for (int lead = 0; lead < signals_; ++lead) {
    of_lead[lead].assign(1, std::vector<double>(signals_, 0.0));
    of_lead[lead][0][lead] = 1;
  }
  for (std::size_t n = 0; n < listed; ++n) {
    const auto first = weights.begin() + static_cast<std::ptrdiff_t>(n * signals_);
    std::vector<double> direction(first, first + signals_);
    const auto lead =
        std::find_if(direction.begin(), direction.end(), [](double w) { return w > 0; });
    if (lead == direction.end()) continue;
    const double unit = *lead;
    for (double& weight : direction) weight /= unit;
    auto& others = of_lead[lead - direction.begin()];
    if (std::find(others.begin(), others.end(), direction) == others.end())
      others.push_back(std::move(direction));
  }
  for (int lead = 0; lead < signals_; ++lead) {
    begin_.push_back(size());
    for (const std::vector<double>& direction : of_lead[lead]) {
      lead_.push_back(lead);
      weights_.insert(weights_.end(), direction.begin(), direction.end());
      if (constraints == 1 && lead == 0) prices_.push_back(direction[1]);
    }
  }
  begin_.push_back(size());
}

Directions Directions::of_prices(const std::vector<double>& prices) {
  std::vector<double> weights;
  for (const double price : prices) weights.insert(weights.end(), {1, price});
  return {1, weights};
}

int Directions::find(const double* weights) const {
  for (int k = 0; k < size(); ++k)
    if (std::equal(weights, weights + signals_, weights_of(k))) return k;
  return -1;
}

}  // namespace redoubt::internal
