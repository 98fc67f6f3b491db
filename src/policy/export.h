#pragma once

#include <iosfwd>

#include "redoubt/policy.h"

namespace redoubt::internal {

// One line for each action that a node may take: step, state, memory, what each budget still asks
// for (in the user's sign), action, probability.
void write_policy_csv(std::ostream& out, const Problem& problem, const Policy& policy);

// Everything that running the policy takes, as flat arrays that a short program in any language
// reads; docs/deploy.md describes them. Memory states that no episode comes to have no choices.
void write_policy_json(std::ostream& out, const Problem& problem, const Policy& policy);

// The scheduler format of the model checker Storm. Its memory has no clock, so a memory state there
// is a pair of a stage and a memory state of ours; number 0 is where episodes begin. It has no
// place for random memory: an Error then.
void write_storm_scheduler(std::ostream& out, const Problem& problem, const Policy& policy);

}  // namespace redoubt::internal
