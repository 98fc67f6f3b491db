#pragma once

#include <cstddef>
#include <span>
#include <string_view>

// The lane kernels are compiled once for each of these. Which one runs is decided once, outside
// every hot loop.
namespace redoubt::internal {

enum class InstructionSet { baseline, avx2, avx512 };

// Those that this build contains and this machine can run, slowest first. The environment variable
// REDOUBT_INSTRUCTIONS (baseline, avx2 or avx512) leaves out those after the one that it names.
std::span<const InstructionSet> instruction_sets();

// How many that are, for what the variable says (null: nothing) and the number that the processor
// knows. Throws std::invalid_argument when there is no such set, or the processor lacks it.
std::size_t count_instruction_sets(const char* most, std::size_t known);

inline InstructionSet best_instruction_set() { return instruction_sets().back(); }

std::string_view name(InstructionSet set);

}  // namespace redoubt::internal
