#pragma once

#include <vector>

#include "redoubt/advanced/ranks.h"
#include "redoubt/evaluate.h"

namespace redoubt::internal {

// What the worst case of each constraint may miss (kSatisfied). Every rank must ask.
std::vector<double> allowed_misses(const Problem& problem, Communicator& ranks = one_process());
bool satisfied(const Constraint& constraint, double worst, double allowed_miss);
bool all_satisfied(const std::vector<ConstraintResult>& constraints);

}  // namespace redoubt::internal
