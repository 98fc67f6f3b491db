#include "numerics/isa.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace redoubt::internal {
namespace {

constexpr InstructionSet kAll[] = {InstructionSet::baseline, InstructionSet::avx2,
                                   InstructionSet::avx512};

std::size_t known_to_the_processor() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd"))
    return 3;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return 2;
#endif
  return 1;
}

}  // namespace

std::size_t count_instruction_sets(const char* most, std::size_t known) {
  if (most == nullptr || *most == '\0') return known;
  for (std::size_t count = 1; count <= std::size(kAll); ++count) {
    if (most != name(kAll[count - 1])) continue;
    if (count > known)
      throw std::invalid_argument(std::string("REDOUBT_INSTRUCTIONS = ") + most +
                                  ", must be known to the processor, which has at most " +
                                  std::string(name(kAll[known - 1])));
    return count;
  }
  throw std::invalid_argument(std::string("REDOUBT_INSTRUCTIONS = ") + most +
                              ", must be one of baseline, avx2, avx512");
}

std::span<const InstructionSet> instruction_sets() {
  static const std::size_t count =
      count_instruction_sets(std::getenv("REDOUBT_INSTRUCTIONS"), known_to_the_processor());
  return std::span(kAll).first(count);
}

std::string_view name(InstructionSet set) {
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<int>(set)];
}

}  // namespace redoubt::internal
