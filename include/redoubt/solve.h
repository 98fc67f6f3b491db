#pragma once

#include <cstdint>
#include <optional>

#include "redoubt/execution.h"
#include "redoubt/solution.h"

namespace redoubt {

// What to do where no action can meet the budget.
enum class Fallback {
  reward,   // give up on the constraint and earn, as in the paper
  utility,  // come as close to the budget as possible
};

struct RcviOptions {
  // How far a decision may fall short of its budget, for each stage that is still to come. Zero
  // for a known model; the accuracy of the samples for an estimated one.
  double slack = 0;
  Fallback fallback = Fallback::reward;
  // Width of a budget cell, in the unit of the signal. Zero: the exact lattice of the signal's
  // values where there is one with few enough cells, otherwise `budget_cells` cells over the widest
  // stage. Several constraints have a grid each, and the product of their cells to remember.
  double budget_step = 0;
  int budget_cells = 200;
  Rounding rounding = Rounding::up;
  double tolerance = 1e-6;  // an infinite horizon is cut where what may follow is below this share
                            // of the largest total
  double memory_limit =
      0;  // bytes; refuse with an Error beyond it. Zero: three quarters of this machine's RAM
};

// RCVI, the paper's algorithm: value iteration on a state augmented with the remaining budget of
// each constraint. It asks every reached (state, budget) to meet that budget and drops the
// constraint where that is impossible; docs/algorithms.md says what follows.
Solution rcvi(const Problem& problem, const RcviOptions& options = {},
              const Execution& execution = {});

// Of robust and nominal.
struct RobustOptions {
  // On an infinite horizon, the gap between the answer and its bound, relative to the larger of the
  // two, that ends the sweeps. A finite horizon has no gap.
  double tolerance = 1e-8;
};

// The largest worst-case reward, constraints ignored (but reported).
Solution robust(const Problem& problem, const RobustOptions& options = {},
                const Execution& execution = {});

// The largest expected reward of the nominal model, constraints ignored; reported in the worst
// case, like every answer.
Solution nominal(const Problem& problem, const RobustOptions& options = {},
                 const Execution& execution = {});

// What robust and nominal need, known before they start. (Chance constraints, which are evaluated
// on a larger model, need more.)
MemoryPlan plan_robust(const Problem& problem);

// The largest and the least worst-case total that policies reach on one constraint's signal, in the
// user's sign: a bound outside of this range is met by no policy, or by every one. For a chance
// constraint, the probabilities with which they keep its bound. Computed against a nature that sees
// the history.
struct AchievableRange {
  double best = 0, worst = 0;
};
AchievableRange achievable_range(const Problem& problem, int constraint,
                                 const Execution& execution = {});

// Memory and work of an RCVI solve, known before it starts.
struct RcviPlan {
  std::vector<BudgetAxis> axes;
  int stages = 0;                       // after the cut of an infinite horizon
  std::int64_t most_memory_states = 1;  // of any stage: the product of the cells of its axes
  int widest_stage = 0;                 // the stage that has them
  // With chance constraints: pairs of a state and the budgets of those constraints, each of which
  // has that many memory states; `axes` ends with their grids. Zero: no such constraint.
  State augmented_states = 0;
  State others = 0;   // states, or such pairs, of other ranks whose values this one needs
  MemoryPlan memory;  // of this process
  double row_evaluations = 0;
};
RcviPlan plan_rcvi(const Problem& problem, const RcviOptions& options = {},
                   const Execution& execution = {});

}  // namespace redoubt
