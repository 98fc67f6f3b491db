#include "sets/worst_case.h"

#include "sets/kernels/kernels.h"

namespace redoubt {

namespace {

const SetKernels& kernels_for(InstructionSet instructions) {
#ifdef REDOUBT_X86_KERNELS
  if (instructions == InstructionSet::avx512) return avx512::set_kernels;
  if (instructions == InstructionSet::avx2) return avx2::set_kernels;
#endif
  (void)instructions;
  return baseline::set_kernels;
}

WorstCase choose(const Nominal&, const SetKernels& k) { return k.nominal; }
WorstCase choose(const TV&, const SetKernels& k) { return k.tv; }
WorstCase choose(const Chi2&, const SetKernels& k) { return k.chi2; }
WorstCase choose(const KL&, const SetKernels& k) { return k.kl; }
WorstCase choose(const Tilt&, const SetKernels& k) { return k.tilt; }
WorstCase choose(const Interval&, const SetKernels& k) { return k.interval; }

}  // namespace

WorstCase worst_case_kernel(const Uncertainty& uncertainty, InstructionSet instructions) {
  return std::visit([&](const auto& set) { return choose(set, kernels_for(instructions)); },
                    uncertainty);
}

WorstCase worst_case_kernel(const Uncertainty& uncertainty) {
  return worst_case_kernel(uncertainty, best_instruction_set());
}

}  // namespace redoubt
