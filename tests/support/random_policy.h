#pragma once

#include <cstdint>

#include "redoubt/policy.h"
#include "redoubt/solution.h"

namespace redoubt::testing {

// Policies with nothing to recommend them: any decision, any memory move. The same seed gives the
// same policy on every platform.
Policy random_markov_policy(std::uint64_t seed, const Problem& problem);
// One to four memory states for each state, which differ from stage to stage.
Policy random_table_policy(std::uint64_t seed, const Problem& problem);
// The budgets that rcvi would keep with this rounding, and any decision on them.
Policy random_budget_policy(std::uint64_t seed, const Problem& problem, Rounding rounding);

// Fails the test unless the two agree to `tolerance`, in units of the largest of their numbers (at
// least one).
void expect_same(const Evaluation& a, const Evaluation& b, double tolerance);

}  // namespace redoubt::testing
