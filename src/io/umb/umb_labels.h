#pragma once

#include "io/umb/umb_values.h"
#include "redoubt/model.h"
#include "support/json_node.h"

namespace redoubt::internal::io {

// Atomic propositions of states as labels; those of choices and branches are ignored. `states` is
// how many the file has. Of layers, one for each stage, the first counts: labels do not depend on
// the stage.
void read_labels(umb::Members& members, const JsonNode& index, std::int64_t states,
                 ModelArrays& arrays);

// One bit for each of `count` states, set for those that are listed, in every layer of so many.
std::string bits_of(const std::vector<State>& states, std::int64_t count, std::int64_t layer);

}  // namespace redoubt::internal::io
