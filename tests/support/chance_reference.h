#pragma once

#include <cstdint>
#include <vector>

#include "redoubt/policy.h"
#include "support/random_problem.h"

namespace redoubt::testing {

// A random problem of this shape whose signals are multiples of 1/2, so that totals lie on a
// lattice, with a chance constraint on the first. Bounds lie in the middle of what episodes earn.
Problem random_chance_problem(std::uint64_t seed, RandomOptions options);

// The probability that a policy keeps a chance constraint under the nominal model: every path of
// decisions, memory moves and outcomes, with its total in long double.
double kept_probability(const Problem& problem, const Policy& policy, int constraint);

// (expected reward, probability to keep the first constraint) of every deterministic policy that
// remembers everything, under the nominal model and from one start state.
struct HistoryPolicyValue {
  double reward = 0, kept = 0;
};
std::vector<HistoryPolicyValue> deterministic_history_policies(const Problem& problem);

}  // namespace redoubt::testing
