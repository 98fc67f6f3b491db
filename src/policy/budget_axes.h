#pragma once

#include "parallel/workers.h"
#include "redoubt/policy.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// How fine the grid of a budget is.
struct BudgetGrid {
  double step = 0;  // zero: the exact lattice of the signal's values where there is one with few
                    // enough cells, otherwise `cells` cells over the widest stage
  int cells = 200;
  Rounding rounding = Rounding::up;
  double slack = 0;  // what a stage may stay below its requirement, for each stage still to come
};

// The grid of requirements for one constraint over `stages` stages: its step, and the
// window of each stage. Only requirements that can be reached from the bound matter, and only
// between the least and the largest total that a path can still earn: below, nothing later depends
// on them, above, nothing can meet them.
// All ranks call it together. Throws Stopped.
BudgetAxis budget_axis(const Problem& problem, int constraint, int stages, const BudgetGrid& grid,
                       Workers& workers);

// The grid on which the total of a chance constraint is followed, the same for everybody who asks:
// the exact lattice, or a rounded grid that counts against the policy. Needs a finite horizon.
BudgetAxis chance_axis(const Problem& problem, int constraint, Workers& workers);

}  // namespace redoubt::internal
