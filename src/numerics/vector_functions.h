#pragma once

#include "numerics/isa.h"

namespace redoubt::internal {

// The vector math of the lane kernels as functions of arrays, for tests and measurements: y[i] =
// f(x[i]), count a multiple of 8.
using VectorFunction = void (*)(const double* x, double* y, int count);

struct VectorFunctions {
  VectorFunction exp, expm1, log, log1p;
};

const VectorFunctions& vector_functions(InstructionSet instructions);

}  // namespace redoubt::internal
