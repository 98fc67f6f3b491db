#include "support/rcvi_laws.h"

#include <gtest/gtest.h>

#include "redoubt/evaluate.h"
#include "redoubt/verify.h"
#include "support/random_policy.h"
#include "support/rcvi_reference.h"
#include "support/rcvi_windows.h"

namespace redoubt::testing {

void expect_literal_rcvi(const Problem& problem, const RcviOptions& options) {
  const Solution solution = rcvi(problem, options);
  const bool several = problem.constraints().size() > 1;
  const bool in_windows =
      problem.discount() < 1 || (several && options.fallback == Fallback::utility);
  const auto expected = rcvi_reference(problem, options, in_windows);
  const Evaluation again = evaluate(problem, solution.policy);
  for (std::size_t c = 0; c < solution.policy.budget.size(); ++c) {
    const BudgetAxis& axis = solution.policy.budget[c];
    const auto windows = rcvi_windows(problem, axis.constraint, options);
    for (std::size_t h = 0; h < windows.size(); ++h)
      EXPECT_EQ(windows[h], (CellWindow{axis.low[h], axis.low[h] + axis.cells[h] - 1})) << h;
  }
  EXPECT_NEAR(solution.trace.reward.back(), static_cast<double>(expected.reward), 1e-9);
  EXPECT_NEAR(solution.reward.worst, solution.trace.reward.back(), 1e-9);
  EXPECT_EQ(solution.reward.worst, again.reward.worst);
  EXPECT_EQ(solution.hopeless, again.hopeless);
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    const double sign = problem.constraints()[c].sense == Sense::at_most ? -1 : 1;
    const double own = solution.trace.constraints[c].back(), worst = solution.constraints[c].worst;
    EXPECT_NEAR(sign * own, static_cast<double>(expected.utility[c]), 1e-9);
    EXPECT_EQ(worst, again.constraints[c].worst);
    // Rounding up may only hide utility, where more of it is never worth less.
    if (!std::holds_alternative<Tilt>(problem.uncertainty())) {
      EXPECT_GE(sign * (worst - own), -1e-9);
    }
  }
  expect_same(again, verify(problem, solution.policy), 1e-9);
}

}  // namespace redoubt::testing
