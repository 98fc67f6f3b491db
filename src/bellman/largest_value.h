#pragma once

#include "redoubt/advanced/ranks.h"
#include "redoubt/model.h"

namespace redoubt::internal {

// The largest size of what a signal (-1: the reward) has in any decision, on any rank.
double largest_value(const Model& model, int signal, Communicator& ranks);

}  // namespace redoubt::internal
