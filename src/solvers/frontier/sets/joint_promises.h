#pragma once

#include "solvers/frontier/sets/landings.h"

namespace redoubt::internal {

// Several constraints: the best promises that all states of a landing can keep, in the directions
// that all of them look at. A promise is a vector; a state keeps it by a mixture of its own points.
//     max d.v  subject to  v <= a mixture of the points of s, for each state s of the landing.
// Fills the points of the landings, and how the own states keep them. Ranks call this together.
// Throws Stopped.
void find_joint_promises(const Landings& landings, TradeOffs& table, LandingPlans& plans,
                         Workers& workers);

}  // namespace redoubt::internal
