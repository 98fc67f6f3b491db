#pragma once

#include "model/two_stages.h"

namespace redoubt::internal {

// An Error unless every group has one row at each stage, which leads to ordinary states and earns
// nothing of its own.
void check_groups(const Model& model);

// Every decision takes two stages: an action leads to a group, and from there to one of its
// members. A single next state is a group of its own. Nature's set of a group is as large as sets
// can be: all distributions over the members, so that each of its natures takes what is worst. A
// policy that picks has an action for each member. All methods, and everything that evaluates, know
// groups by this alone. Total variation with reach anywhere is one more group of all states, of
// nominal probability zero.
TwoStages with_groups(const Model& model, const Terms& terms);

}  // namespace redoubt::internal
