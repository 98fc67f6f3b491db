#pragma once

#include "evaluation/taken_rows.h"

namespace redoubt::internal {

// The last stage of a policy with memory, for ever, as a policy without: its nodes are the states
// of a problem of their own, in their order, and the rows that it takes there are all that this
// problem has. Where memory is drawn after an outcome, a state behind the nodes does that. Of a
// policy without memory it is the problem itself.
struct NodeProblem {
  Problem problem;
  TakenRows rows;
};

// Of an undiscounted problem whose rows list all that nature may make of them; an Error otherwise.
NodeProblem node_problem(const Problem& problem, const Policy& policy);

}  // namespace redoubt::internal
