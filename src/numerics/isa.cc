#include "numerics/isa.h"

namespace redoubt {

std::span<const InstructionSet> instruction_sets() {
  static constexpr InstructionSet all[] = {InstructionSet::baseline, InstructionSet::avx2,
                                           InstructionSet::avx512};
  static const std::size_t count = [] {
#ifdef REDOUBT_X86_KERNELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd"))
      return 3;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
      return 2;
#endif
    return 1;
  }();
  return std::span(all).first(count);
}

std::string_view name(InstructionSet set) {
  switch (set) {
    case InstructionSet::baseline:
      return "baseline";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
  }
  return "";
}

}  // namespace redoubt
