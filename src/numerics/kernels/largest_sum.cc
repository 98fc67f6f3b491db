#include "numerics/kernels/kernels.h"
#include "numerics/lanes.h"

namespace redoubt::internal::REDOUBT_TARGET {

LargestSum largest_sum(const double* vectors, std::int64_t blocks, int coordinates,
                       const double* factor) {
  Lanes most = Lanes(-__builtin_inf()), block_of = Lanes(0.0);
  for (std::int64_t block = 0; block < blocks; ++block) {
    Lanes sum = Lanes(0.0);
    for (int j = 0; j < coordinates; ++j, vectors += kLanes)
      sum = sum + Lanes(factor[j]) * load(vectors);
    block_of = select(sum > most, Lanes(static_cast<double>(block)), block_of);
    most = max(sum, most);
  }
  double values[kLanes], blocks_of[kLanes];
  store(values, most);
  store(blocks_of, block_of);
  LargestSum best{0, -__builtin_inf()};
  for (int at = 0; at < kLanes; ++at) {
    const std::int64_t which = static_cast<std::int64_t>(blocks_of[at]) * kLanes + at;
    if (values[at] > best.value || (values[at] == best.value && which < best.which))
      best = {which, values[at]};
  }
  return best;
}

}  // namespace redoubt::internal::REDOUBT_TARGET
