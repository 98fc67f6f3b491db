#include "numerics/tilted_rows.h"

#include "numerics/kernels/kernels.h"

namespace redoubt::internal {

TiltFunction tilt_function([[maybe_unused]] InstructionSet instructions) {
#ifdef __x86_64__
  if (instructions == InstructionSet::avx512) return avx512::tilt_rows;
  if (instructions == InstructionSet::avx2) return avx2::tilt_rows;
#endif
  return baseline::tilt_rows;
}

void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]) {
  static const TiltFunction function = tilt_function(best_instruction_set());
  function(rows, moments);
}

}  // namespace redoubt::internal
