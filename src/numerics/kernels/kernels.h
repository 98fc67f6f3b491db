#pragma once

#include "numerics/vector_functions.h"

// The kernels of this folder, once for each instruction set.
namespace redoubt {

namespace baseline {
extern const VectorFunctions vector_functions;
}
namespace avx2 {
extern const VectorFunctions vector_functions;
}
namespace avx512 {
extern const VectorFunctions vector_functions;
}

}  // namespace redoubt
