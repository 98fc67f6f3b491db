#pragma once

#include "numerics/curves.h"
#include "numerics/kernels.h"
#include "numerics/level_rows.h"
#include "numerics/tilted_rows.h"

// The lane kernels of this folder, once for each instruction set.
namespace redoubt::internal {

struct NumericKernels {
  const VectorFunctions* vector_functions;
  const MixFunctions* mix_functions;
  const CurveFunctions* curve_functions;
  const LevelFunctions* level_functions;
  LargestSumFunction largest_sum;
  TiltFunction tilt_rows;
};

namespace baseline {
extern const NumericKernels numeric_kernels;
}
#ifdef __x86_64__
namespace avx2 {
extern const NumericKernels numeric_kernels;
}
namespace avx512 {
extern const NumericKernels numeric_kernels;
}
#endif

}  // namespace redoubt::internal
