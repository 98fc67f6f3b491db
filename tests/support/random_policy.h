#pragma once

#include <array>
#include <cstdint>
#include <vector>

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

// The same as a policy without memory, with two memory states that no decision depends on: after
// every outcome the next one is drawn by the moves of the one at hand.
Policy with_idle_memory(const Problem& problem, const Policy& policy,
                        const std::array<std::vector<MemoryMove>, 2>& moves);

// Fails the test unless the two agree to `tolerance`, in units of the largest of their numbers (at
// least one).
void expect_same(const Evaluation& a, const Evaluation& b, double tolerance);

}  // namespace redoubt::testing
