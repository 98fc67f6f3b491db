#pragma once

#include "redoubt/solve.h"

namespace redoubt::testing {

// What rcvi's own values at the start must be: the utility without what rounding up added.
struct RcviValue {
  long double reward = 0, utility = 0;
};

// The paper's Algorithm 1, literally, for one constraint and a finite horizon: a plain recursion
// over (stage, state, budget) in long double, budgets as multiples of options.budget_step from the
// bound in a map without a window, worst cases by the long-double reference, the decision by trying
// every pair of actions. With a discount, what rounding adds depends on where a budget is, so that
// a window shows; then budgets are kept in the window of `axis`.
RcviValue rcvi_reference(const Problem& problem, const RcviOptions& options,
                         const BudgetAxis* axis = nullptr);

}  // namespace redoubt::testing
