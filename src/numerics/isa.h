#pragma once

#include <span>
#include <string_view>

// The lane kernels are compiled once for each of these. Which one runs is decided once, outside
// every hot loop.
namespace redoubt {

enum class InstructionSet { baseline, avx2, avx512 };

// Those that this build contains and this machine can run, slowest first.
std::span<const InstructionSet> instruction_sets();

inline InstructionSet best_instruction_set() { return instruction_sets().back(); }

std::string_view name(InstructionSet set);

}  // namespace redoubt
