#pragma once

#include "sets/row.h"

// The kernels, once for each instruction set.
namespace redoubt {

struct SetKernels {
  WorstCase nominal, tv, chi2, kl, tilt, interval;
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

}  // namespace redoubt
