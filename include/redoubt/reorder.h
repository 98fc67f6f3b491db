#pragma once

#include <vector>

#include "redoubt/problem.h"

namespace redoubt {

// The same problem with its states numbered so that rows lead to states with near numbers. Values
// of states lie in RAM by number, so that work on a large model that was numbered badly takes
// less time, and ranks that divide it in blocks send less. A state without a name gets its old
// number as its name, by which it is found again. Not for a subproblem.
Problem reorder(const Problem& problem);

// The same with a numbering of the caller: state i of the result is order[i] of the given problem.
Problem reorder(const Problem& problem, const std::vector<State>& order);

}  // namespace redoubt
