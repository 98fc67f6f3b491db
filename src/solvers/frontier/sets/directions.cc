#include "solvers/frontier/sets/directions.h"

#include "support/require.h"

namespace redoubt::internal {

Directions::Directions(Prices prices) : prices_(std::move(prices)) {
  while (lists(constraints_) < lists()) ++constraints_;
  require(constraints_ <= kMostConstraints, "{} constraints, the frontier method takes at most {}",
          constraints_, kMostConstraints);
  begin_ = {0};
  for (int lead = 0; lead < signals(); ++lead) {
    int count = 1;
    for (int j = lead + 1; j < signals(); ++j)
      count *= static_cast<int>(prices_[list(lead, j)].size());
    begin_.push_back(begin_.back() + count);
    lead_.insert(lead_.end(), count, lead);
  }
  weights_.assign(static_cast<std::size_t>(size()) * signals(), 0.0);
  for (int d = 0; d < size(); ++d) {
    double* weights = weights_.data() + static_cast<std::size_t>(d) * signals();
    weights[lead(d)] = 1;
    int rest = d - begin_[lead(d)];
    for (int j = signals() - 1; j > lead(d); --j) {  // the last signal varies fastest
      const std::vector<double>& listed = prices_[list(lead(d), j)];
      const int count = static_cast<int>(listed.size());
      weights[j] = listed[rest % count];
      rest /= count;
    }
  }
}

void Directions::split(const double* q, Parts& parts) const {
  parts.count = 0;
  for_each_level(q, [&](const Level& level) {
    const int after = signals() - 1 - level.lead;
    for (int corner = 0; corner < 1 << after; ++corner) {
      int direction = 0;
      double weight = level.weight;
      for (int n = 0; n < after; ++n) {
        const int j = level.lead + 1 + n;
        const bool up = corner >> n & 1;
        weight *= up ? level.share[j] : 1 - level.share[j];
        direction = direction * static_cast<int>(prices_[list(level.lead, j)].size()) +
                    level.low[j] + (up ? 1 : 0);
      }
      if (weight > 0) parts.add(begin_[level.lead] + direction, weight);
    }
  });
}

}  // namespace redoubt::internal
