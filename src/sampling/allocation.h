#pragma once

#include <cstdint>
#include <vector>

#include "redoubt/policy.h"
#include "sampling/row_counts.h"

namespace redoubt::internal {

// Adds to each row of the simulator what its uncertainty contributes to the width of the totals of
// a policy: how often it is taken under the nature of each total, times the deviation of what
// follows it. `origin` says which row of the simulator each row of the problem is.
void add_contributions(const Problem& problem, const Policy& policy, const std::vector<Row>& origin,
                       const RowCounts& counts, std::vector<double>& contribution);

// How many samples each row should have when there are `total` of them. The width of a row falls
// with the root of its samples, so the sum of contribution / sqrt(samples) is least where samples
// are proportional to contribution^(2/3); nobody gives samples back.
std::vector<std::int64_t> allocate(const std::vector<std::int64_t>& samples,
                                   const std::vector<double>& contribution, std::int64_t total);

}  // namespace redoubt::internal
