#pragma once

#include "sets/row.h"

// The lane kernels, once for each instruction set.
namespace redoubt::internal {

struct SetKernel {
  WorstCase one_row;
  WorstCases row_of_lane;
};

struct SetKernels {
  SetKernel nominal, tv, chi2, kl, tilt, interval;
  ExpectedValues expected_values;
};

namespace baseline {
extern const SetKernels set_kernels;
}
namespace avx2 {
extern const SetKernels set_kernels;
}
namespace avx512 {
extern const SetKernels set_kernels;
}

}  // namespace redoubt::internal
