#pragma once

#include "redoubt/problem.h"

namespace redoubt::internal {

// One entry for each state that an episode may begin in, by number, summing to one: starts that
// mean the same compare equal. An Error unless it is a distribution over states 0..states-1.
Start canonical_start(const Start& start, State states);

}  // namespace redoubt::internal
