#pragma once

#include <cstdint>

#include "numerics/isa.h"

namespace redoubt::internal {

// Vectors in blocks of eight, [block][coordinate][vector]: which of them has the largest sum of
// coordinates times factors; of equal ones, the first.
struct LargestSum {
  std::int64_t which = 0;
  double value = 0;
};
using LargestSumFunction = LargestSum (*)(const double* vectors, std::int64_t blocks,
                                          int coordinates, const double* factor);
LargestSumFunction largest_sum_function(InstructionSet instructions);

}  // namespace redoubt::internal
