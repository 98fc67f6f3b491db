#include "support/set_reference.h"

#include <algorithm>
#include <cmath>

#include "sets/reference.h"

namespace redoubt::testing {
using namespace internal;

long double reference_worst_case(const Uncertainty& set, const SetRow& row, int lane) {
  const std::vector<double> value = row.lane(lane);
  ReferenceRow one{{row.probability.begin(), row.probability.end()},
                   {value.begin(), value.end()},
                   {row.lower.begin(), row.lower.end()},
                   {row.upper.begin(), row.upper.end()},
                   row.radius};
  if (!row.floor.empty()) one.floor = row.floor[lane];
  return internal::reference_worst_case(set, one);
}

bool is_benign(const Uncertainty& set, const SetRow& row, int lane) {
  const std::vector<double> value = row.lane(lane);
  const double low = *std::min_element(value.begin(), value.end());
  long double at_low = 0, sum = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    sum += row.probability[i];
    at_low += value[i] == low ? row.probability[i] : 0;
  }
  at_low /= sum;
  const auto* composed = std::get_if<Composed>(&set);
  if (composed != nullptr) {  // what the row that nature takes has there
    long double most = 0, others = 0;
    for (std::size_t i = 0; i < value.size(); ++i)
      (value[i] == low ? most : others) += value[i] == low ? row.upper[i] : row.lower[i];
    at_low = std::min(most, 1 - others);
  }
  const bool kl = std::holds_alternative<KL>(set) ||
                  (composed != nullptr && composed->ball == Composed::Ball::kl);
  const long double edge = kl ? -std::log(at_low) : 1 / at_low - 1;
  return *std::min_element(row.probability.begin(), row.probability.end()) >= 1e-13 &&
         (row.radius == 0 || row.radius > 1e-9) &&
         std::abs(row.radius - edge) > 1e-6L * std::max(edge, 1e-9L);
}

double error_unit(const SetRow& row, int lane) {
  std::vector<double> v = row.lane(lane);
  if (!row.floor.empty()) v.push_back(row.floor[lane]);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  return std::max({1e-300, *high - *low, 1e-4 * std::abs(*low), 1e-4 * std::abs(*high)});
}

}  // namespace redoubt::testing
