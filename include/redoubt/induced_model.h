#pragma once

#include "redoubt/execution.h"
#include "redoubt/policy.h"
#include "redoubt/worst_kernel.h"

namespace redoubt {

// The chain that a policy and a nature make of a problem: what is left when nobody has a choice any
// more, for other programs to check. Its states are the stage, state and memory that episodes come
// to, named "stage=0, state=3, memory=1"; with a finite horizon there is one more layer after the
// last decision. Each has one row, whose reward and signals are the expected ones of the decision;
// labels are those of the state; names of signals have no blanks ("reach_goal"). The draft has the
// problem's horizon, discount and start, and neither constraints nor uncertainty: the total of its
// reward is what `evaluate` says of the total that nature works against, up to rounding.
Draft induced_model(const Problem& problem, const Policy& policy, Nature nature = {},
                    const Execution& execution = {});

}  // namespace redoubt
