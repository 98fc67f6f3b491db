#pragma once

#include <vector>

#include "redoubt/solve.h"

namespace redoubt::testing {

// What rcvi's own values at the start must be: the utilities without what rounding up added.
struct RcviValue {
  long double reward = 0;
  std::vector<long double> utility;  // of each constraint
};

// The paper's Algorithm 1, literally, for any number of constraints and a finite horizon: a plain
// recursion over (stage, state, budgets) in long double, budgets as multiples of
// options.budget_step from the bounds in a map without a window, worst cases by the long-double
// reference, the decision by trying every pair of actions or, for several constraints, every corner
// of the polytope of mixtures. With a discount, what rounding adds depends on where a budget is, so
// that a window shows, and so does it in the shortfall of a requirement that is out of reach; then
// budgets are kept `in_windows`, those of rcvi_windows.h.
RcviValue rcvi_reference(const Problem& problem, const RcviOptions& options,
                         bool in_windows = false);

}  // namespace redoubt::testing
