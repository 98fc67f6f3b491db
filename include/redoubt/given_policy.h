#pragma once

#include "redoubt/policy.h"

namespace redoubt {

// A policy that speaks of the states and actions of the model that its problem was made of (see
// Problem::given): where goals made pairs of states, and where several states have become one, its
// memory knows what the problem's states said. `problem` has that model, and nothing is asked of
// it. After everything is decided, and where episodes never come, the policy takes first actions.
struct GivenPolicy {
  Problem problem;
  Policy policy;
};
GivenPolicy given_policy(const Problem& problem, const Policy& policy);

// Whether that is another policy. (Where outcomes lead to groups or factors, a decision takes two
// stages of the problem, and its policies speak of these.)
bool has_given_policy(const Problem& problem);

}  // namespace redoubt
