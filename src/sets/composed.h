#pragma once

#include "redoubt/uncertainty.h"
#include "sets/kernels/kernels.h"

namespace redoubt::internal {

// The worst case over a ball around any row that keeps its bounds. The row that starts from the
// lower bounds and fills up the lowest values first is below every other in the stochastic order of
// the values, whatever they are, and the worst case over a ball grows in that order; so nature
// takes that row, which is the one that the interval kernel chooses, and then the ball around it.
// docs/uncertainty.md has the proof.
SetKernel composed_kernel(Composed::Ball ball, const SetKernels& kernels);

}  // namespace redoubt::internal
