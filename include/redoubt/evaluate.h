#pragma once

#include "redoubt/execution.h"
#include "redoubt/policy.h"
#include "redoubt/solution.h"

namespace redoubt {

// Worst-case totals of a policy: of the reward and of each constraint's signal, each against its
// own nature, which may look at the policy's memory. Every solver reports these numbers, never its
// own. An infinite horizon is evaluated to 1e-12 of the largest total. Throws Stopped when asked to
// stop: half an evaluation says nothing.
Evaluation evaluate(const Problem& problem, const Policy& policy, const Execution& execution = {});

// A constraint counts as satisfied when its worst case misses the bound by no more than this share
// of the bound. A bound of zero has no size of its own: there, of the largest value that the signal
// has in any decision.
inline constexpr double kSatisfied = 1e-9;

}  // namespace redoubt
