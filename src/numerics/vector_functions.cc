#include "numerics/vector_functions.h"

#include "numerics/kernels/kernels.h"

namespace redoubt::internal {

const VectorFunctions& vector_functions([[maybe_unused]] InstructionSet instructions) {
#ifdef __x86_64__
  if (instructions == InstructionSet::avx512) return avx512::vector_functions;
  if (instructions == InstructionSet::avx2) return avx2::vector_functions;
#endif
  return baseline::vector_functions;
}

}  // namespace redoubt::internal
