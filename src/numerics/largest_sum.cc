#include "numerics/largest_sum.h"

#include "numerics/kernels/kernels.h"

namespace redoubt::internal {

LargestSumFunction largest_sum_function([[maybe_unused]] InstructionSet instructions) {
#ifdef __x86_64__
  if (instructions == InstructionSet::avx512) return avx512::largest_sum;
  if (instructions == InstructionSet::avx2) return avx2::largest_sum;
#endif
  return baseline::largest_sum;
}

}  // namespace redoubt::internal
