#include "support/rcvi_laws.h"

#include <gtest/gtest.h>

#include "redoubt/evaluate.h"
#include "redoubt/verify.h"
#include "support/random_policy.h"
#include "support/rcvi_reference.h"

namespace redoubt::testing {

void expect_literal_rcvi(const Problem& problem, const RcviOptions& options) {
  const Solution solution = rcvi(problem, options);
  std::span<const BudgetAxis> windows;
  const bool several = problem.constraints().size() > 1;
  if (problem.discount() < 1 || (several && options.fallback == Fallback::utility))
    windows = solution.policy.budget;
  const auto expected = rcvi_reference(problem, options, windows);
  const Evaluation again = evaluate(problem, solution.policy);
  EXPECT_NEAR(solution.trace.reward.back(), static_cast<double>(expected.reward), 1e-9);
  EXPECT_NEAR(solution.reward.worst, solution.trace.reward.back(), 1e-9);
  EXPECT_EQ(solution.reward.worst, again.reward.worst);
  EXPECT_EQ(solution.hopeless, again.hopeless);
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    const double sign = problem.constraints()[c].sense == Sense::at_most ? -1 : 1;
    const double own = solution.trace.constraints[c].back(), worst = solution.constraints[c].worst;
    EXPECT_NEAR(sign * own, static_cast<double>(expected.utility[c]), 1e-9);
    EXPECT_EQ(worst, again.constraints[c].worst);
    EXPECT_GE(sign * (worst - own), -1e-9);  // rounding up may only hide utility
  }
  expect_same(again, verify(problem, solution.policy), 1e-9);
}

}  // namespace redoubt::testing
