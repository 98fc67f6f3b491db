#pragma once

#include "redoubt/execution.h"
#include "redoubt/ranks.h"

namespace redoubt {

// What the ranks of one machine plan to need together, where that is most: they share its memory.
double bytes_on_one_machine(const MemoryPlan& plan, Communicator& ranks);

// The bytes that work may take: what was asked for or, where that is zero, three quarters of
// this machine.
double memory_limit(double asked);

// Tells the caller what this process will need. An Error when the machine does not have it.
void announce(const MemoryPlan& plan, const Execution& execution);

}  // namespace redoubt
