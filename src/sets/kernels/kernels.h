#pragma once

#include "sets/row.h"
#include "sets/row_checks.h"

// The lane kernels, once for each instruction set.
namespace redoubt::internal {

struct SetKernel {
  WorstCase one_row;
  WorstCases row_of_lane;
};

struct StateKernel {  // of sets that the rows of a state may share
  WorstOfStates worst = nullptr;
  BestOfStates best = nullptr;
};

struct SetKernels {
  SetKernel nominal, tv, chi2, kl, tilt, interval;
  StateKernel state_tv, state_chi2, state_kl;
  ExpectedValues expected_values;
  BestExpected best_expected;
  BestAlike best_alike;
  LayOut lay_out;
  RowChecks checks;
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
