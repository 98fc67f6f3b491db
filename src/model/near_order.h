#pragma once

#include <vector>

#include "redoubt/execution.h"
#include "redoubt/problem.h"

namespace redoubt {

// How work reads what next states are worth, by which it is known whether another order pays.
struct ValueReads {
  double bytes = 0;  // of one state, read for one outcome
  double times = 0;  // that an outcome is looked at
};

// The problem, or the same one renumbered (model/part.h) where the execution asks for that and it
// pays. There must be `room` bytes for a second model. Ranks call this together and do the same.
Problem in_near_order(const Problem& problem, const ValueReads& reads, double room,
                      const Execution& execution);

// Bytes of the model of a problem and of the one that it was renumbered to, if it was.
double bytes_of_both(const Problem& given, const Problem& ordered);

// The states breadth first, along and against the way that rows lead: those that rows lead to from
// one to another are never further apart than two layers of that search.
std::vector<State> near_order(const Model& model);

}  // namespace redoubt
