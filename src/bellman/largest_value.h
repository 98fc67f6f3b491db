#pragma once

#include "parallel/workers.h"
#include "redoubt/model.h"

namespace redoubt::internal {

// The largest size of what a signal (-1: the reward) has in any decision, on any rank.
double largest_value(const Model& model, int signal, Communicator& ranks);
// The same on all threads.
double largest_value(const Model& model, int signal, Workers& workers);

}  // namespace redoubt::internal
