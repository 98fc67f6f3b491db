#include "numerics/kernels/kernels.h"

namespace redoubt::internal {
namespace {

const NumericKernels& kernels_for([[maybe_unused]] InstructionSet instructions) {
#ifdef __x86_64__
  if (instructions == InstructionSet::avx512) return avx512::numeric_kernels;
  if (instructions == InstructionSet::avx2) return avx2::numeric_kernels;
#endif
  return baseline::numeric_kernels;
}

}  // namespace

const VectorFunctions& vector_functions(InstructionSet instructions) {
  return *kernels_for(instructions).vector_functions;
}
const MixFunctions& mix_functions(InstructionSet instructions) {
  return *kernels_for(instructions).mix_functions;
}
const CurveFunctions& curve_functions(InstructionSet instructions) {
  return *kernels_for(instructions).curve_functions;
}
const LevelFunctions& level_functions(InstructionSet instructions) {
  return *kernels_for(instructions).level_functions;
}
LargestSumFunction largest_sum_function(InstructionSet instructions) {
  return kernels_for(instructions).largest_sum;
}
TiltFunction tilt_function(InstructionSet instructions) {
  return kernels_for(instructions).tilt_rows;
}

void best_mix(const MixProblem& problem, const MixResult& result) {
  static const MixFunctions functions = mix_functions(best_instruction_set());
  constexpr int kMostActionsByPairs = 5;  // measured: beyond it the bridge is faster
  (problem.actions <= kMostActionsByPairs ? functions.by_pairs : functions.by_bridge)(problem,
                                                                                      result);
}

void answer_levels(const LevelLanes& lanes) {
  static const LevelFunctions& functions = level_functions(best_instruction_set());
  functions.answer_levels(lanes);
}
void weigh_levels(const LevelRows& rows, const LevelMoments& moments) {
  static const LevelFunctions& functions = level_functions(best_instruction_set());
  functions.weigh_levels(rows, moments);
}
void weigh_ball(const LevelRows& rows, const LevelMoments& moments) {
  static const LevelFunctions& functions = level_functions(best_instruction_set());
  functions.weigh_ball(rows, moments);
}

void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]) {
  static const TiltFunction function = tilt_function(best_instruction_set());
  function(rows, moments);
}

}  // namespace redoubt::internal
