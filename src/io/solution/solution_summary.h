#pragma once

#include <string>

#include "redoubt/solution.h"
#include "support/json_node.h"

namespace redoubt::internal::io {

// Everything about a solution that is not a long array, as JSON: status, numbers, notes, budget
// axes.
std::string write_summary(const Solution& solution, State states);

// The arrays of the policy, its axes, the trace and the curve are read elsewhere.
Solution read_summary(const JsonNode& root);

}  // namespace redoubt::internal::io
