#pragma once

#include "redoubt/execution.h"
#include "redoubt/solution.h"

namespace redoubt {

struct FrontierOptions {
  // The gap between the answer and its bound that ends the search, relative to the larger of the
  // two, but never to less than a thousandth of the spread between what the best and the worst
  // policy earn.
  double tolerance = 1e-3;
  // A gap that ends the search whatever the size of the answer, in the unit of the reward.
  double least_gap = 0;
  // Of one stage, and eight times as many where one stage serves an infinite horizon; a finer
  // answer is not attempted beyond this. Zero: 400, and with one constraint as many more as a
  // tolerance below 1e-3 and more than 20 stages ask for: ten times as many at 1e-5, and twice as
  // many over 80 stages.
  int most_directions = 0;
  // Look along the whole trade-off curve, also where the answer does not need it: where the policy
  // that is best for the reward keeps the constraints, or where nothing is uncertain.
  bool whole_curve = false;
  // Bytes. A first pass that needs more is refused with an Error; a search that would need more
  // ends with what it has. Zero: three quarters of this machine's memory.
  double memory_limit = 0;
};

// The exact solver. For every state and stage it encloses the set of all (reward, utilities) that a
// policy can guarantee at once, between achievable points and bounds that no policy can exceed, and
// refines both until the answer at the start is within the tolerance. The policy keeps promises:
// its memory is a point of the next state's set. docs/algorithms.md explains the method. Takes
// every uncertainty set but `tilt`, which is not a set.
Solution frontier(const Problem& problem, const FrontierOptions& options = {},
                  const Execution& execution = {});

// What the first pass of a frontier solve needs, known before it starts, and what later ones add if
// every state has to look at as many as it may. Without chance constraints.
MemoryPlan plan_frontier(const Problem& problem, const FrontierOptions& options = {});

// Adds to the answer of any method what no policy could exceed, and with it the gap: the bounds of
// a frontier solve of the same problem. A feasible answer whose gap is within the tolerance becomes
// certified.
void certify(const Problem& problem, Solution& solution, const FrontierOptions& options = {},
             const Execution& execution = {});

// The policy of a frontier solution for other bounds on the same constraints, without solving
// again: one for each constraint, in the user's sign. Error when the solution's curve does not
// reach them.
Policy policy_at(const Problem& problem, const Solution& solution,
                 const std::vector<double>& bounds);

// What that policy guarantees of the reward, and the bound that no policy which keeps those bounds
// on the constraints can beat, where that is known.
RewardResult reward_at(const Problem& problem, const Solution& solution,
                       const std::vector<double>& bounds);

}  // namespace redoubt
