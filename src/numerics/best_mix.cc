#include "numerics/best_mix.h"

#include "numerics/kernels/kernels.h"

namespace redoubt::internal {

const MixFunctions& mix_functions([[maybe_unused]] InstructionSet instructions) {
#ifdef __x86_64__
  if (instructions == InstructionSet::avx512) return avx512::mix_functions;
  if (instructions == InstructionSet::avx2) return avx2::mix_functions;
#endif
  return baseline::mix_functions;
}

void best_mix(const MixProblem& problem, const MixResult& result) {
  static const MixFunctions functions = mix_functions(best_instruction_set());
  constexpr int kMostActionsByPairs = 5;  // measured: beyond it the bridge is faster
  (problem.actions <= kMostActionsByPairs ? functions.by_pairs : functions.by_bridge)(problem,
                                                                                      result);
}

}  // namespace redoubt::internal
