#pragma once

#include <map>
#include <string>
#include <vector>

#include "redoubt/policy.h"

namespace redoubt::internal {

// One decision of a policy: where it is taken, and which choice of its node it is.
struct Decision {
  int stage = 0;
  State state = 0;
  std::int32_t memory = 0;
  std::int32_t action = 0;   // position in the state's list
  std::int64_t choice = -1;  // position in the list of choices of the stage; -1: the policy never
                             // takes this action here
};

Decision decision(const Policy& policy, int stage, State state, std::int32_t memory,
                  std::int32_t action);

// The distribution over memory states of the next stage, after outcome `outcome` of the decision's
// row (counted from its first). Outcome number "number of outcomes" is a landing outside of them,
// in state `next`. Policies that move by table know no moves for an action that they never take: an
// Error.
void memory_moves(const Problem& problem, const Policy& policy, const Decision& decision,
                  std::int64_t outcome, State next, std::vector<MemoryMove>& moves);

// The same for a policy that remembers budgets, after a step that no outcome of the row describes:
// budgets are less by the signals that were observed or, where one was not, by what the row and an
// arrival in the state earn.
void budget_moves(const Problem& problem, const Policy& policy, const Decision& decision,
                  State next, const std::map<std::string, double>& signals,
                  std::vector<MemoryMove>& moves);

// What a memory state becomes after a stage without a table of moves: itself, or 0 where the next
// stage does not have it.
std::int32_t kept_memory(const Policy& policy, int stage, std::int32_t memory);

// The nodes of a stage, which may be the one after the last: there, only budgets are remembered.
std::int64_t node_count(const Policy& policy, int stage);
std::int64_t memory_of(const Policy& policy, int stage, State state);  // how many of one state
std::int64_t node_of(const Policy& policy, int stage, State state, std::int32_t memory);

}  // namespace redoubt::internal
