#pragma once

#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {

// The largest worst-case total of a problem in which nature can keep an episode for ever, where it
// earns nothing (Problem::traps). By policy iteration: a policy is worth nothing where nature can
// trap it, and has one value elsewhere. The bound from above proves itself.
ValueIteration most_despite_traps(const Problem& problem, Channel channel, Workers& workers);

}  // namespace redoubt::internal
