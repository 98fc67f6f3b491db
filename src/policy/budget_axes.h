#pragma once

#include <vector>

#include "redoubt/problem.h"
#include "redoubt/solve.h"

namespace redoubt {

// The grid of remaining requirements for one constraint over `stages` stages: its step, and the
// window of each stage. Only requirements that can be reached from the bound matter, and only
// between the least and the largest total that a path can still earn: below, nothing later depends
// on them, above, nothing can meet them.
BudgetAxis budget_axis(const Problem& problem, int constraint, int stages,
                       const RcviOptions& options);

// The largest step of which every value is a whole multiple, or zero when there is none above
// `smallest`.
double common_step(std::vector<double> values, double smallest);

}  // namespace redoubt
