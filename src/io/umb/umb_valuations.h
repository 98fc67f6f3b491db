#pragma once

#include "io/umb/umb_values.h"
#include "redoubt/model.h"
#include "support/json_node.h"

namespace redoubt::internal::io {

// The variables of states as their names, "x=1, y=true", where all states have the same variables,
// of whole numbers and truth values, and no two states the same values. Otherwise states keep
// numbers.
void read_valuations(umb::Members& members, const JsonNode& index, ModelArrays& arrays);

}  // namespace redoubt::internal::io
