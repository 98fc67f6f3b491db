#pragma once

#include "sets/kernels/block.h"
#include "sets/row_checks.h"

namespace redoubt::internal::REDOUBT_TARGET {

bool are_below(const std::int32_t* numbers, std::int64_t count, std::uint32_t limit);
bool are_finite(const double* numbers, std::int64_t count);
bool are_distributions(const std::int64_t* row_outcomes, std::int64_t rows,
                       const double* probability);
bool spread(const double* probability, const double* values, int outcomes, double* lanes);

}  // namespace redoubt::internal::REDOUBT_TARGET
