#pragma once

#include "numerics/best_mix.h"
#include "numerics/vector_functions.h"

// The kernels of this folder, once for each instruction set.
namespace redoubt {

namespace baseline {
extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
}  // namespace baseline
namespace avx2 {
extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
}  // namespace avx2
namespace avx512 {
extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
}  // namespace avx512

}  // namespace redoubt
