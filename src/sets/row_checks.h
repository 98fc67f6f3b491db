#pragma once

#include <cstdint>

#include "numerics/isa.h"

namespace redoubt::internal {

// The mass of a row is one but for rounding when it differs by at most so much for each outcome.
inline constexpr double kMassRounding = 4e-16;

// Whether what callers give us is right, as it nearly always is. Where it is not, sets/check_rows.h
// finds out what is wrong, which takes longer. A row is right when its probabilities are positive,
// at most one, and sum to one but for rounding.
struct RowChecks {
  // All numbers are below the limit, and none is negative.
  bool (*below)(const std::int32_t* numbers, std::int64_t count, std::uint32_t limit);
  bool (*finite)(const double* numbers, std::int64_t count);
  // All rows, in compressed storage, are right.
  bool (*distributions)(const std::int64_t* row_outcomes, std::int64_t rows,
                        const double* probability);
  // One row is right, and its values are finite. They are then in all lanes of a block,
  // lanes[outcome * kLaneBlock + lane].
  bool (*spread)(const double* probability, const double* values, int outcomes, double* lanes);
};

const RowChecks& row_checks();  // by the best instructions of this machine
const RowChecks& row_checks(InstructionSet instructions);

}  // namespace redoubt::internal
