#include "numerics/curves.h"

#include <bit>

namespace redoubt::internal {

PriceBuckets make_buckets(std::span<const double> prices) {
  const auto bucket = [](double price) {
    return std::bit_cast<std::int64_t>(price) >> kBucketShift;
  };
  const auto last = static_cast<std::int64_t>(prices.size()) - 1;
  PriceBuckets buckets;
  std::int64_t entry = 0, at = last > 0 ? bucket(prices[1]) : 0;
  buckets.first = at;
  for (; entry < last; ++at) {
    buckets.entry.push_back(entry);
    while (entry < last && bucket(prices[entry + 1]) == at) ++entry;
  }
  buckets.entry.push_back(last);
  buckets.last = at;
  return buckets;
}

namespace {

const CurveFunctions& best_functions() {
  static const CurveFunctions& functions = curve_functions(best_instruction_set());
  return functions;
}

}  // namespace

void stand_on_curve(const CurveLanes& lanes) { best_functions().stand_on_curve(lanes); }
void step_on_curve(const CornerLanes& lanes) { best_functions().step_on_curve(lanes); }
void sum_supports(const SupportSum& sum, double* to) { best_functions().sum_supports(sum, to); }

}  // namespace redoubt::internal
