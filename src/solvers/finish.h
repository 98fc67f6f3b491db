#pragma once

#include <span>

#include "evaluation/evaluation.h"
#include "parallel/stopwatch.h"
#include "parallel/workers.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/solve.h"
#include "solvers/candidates.h"
#include "solvers/gap_tolerance.h"

namespace redoubt::internal {

// What a stop leaves for the answer.
inline constexpr double kSecondsToAnswer = 0.5;

// What the answer says of its policy: the worst cases, and the status that follows from them. A
// bound that a method has proved must be set before; `tolerance` is the gap that counts as
// certified.
void judge(Evaluation evaluation, const GapTolerance& tolerance, Solution& solution);

// Evaluates the policy of a solution and sets its worst cases. Stages of which the policy has no
// decisions come from the store; `near` as in evaluation.h. Throws Stopped.
void finish(const Problem& problem, Solution& solution, Workers& workers,
            const GapTolerance& tolerance = {}, const StageStore* store = nullptr,
            std::span<const double> near = {});

// Adds a note of what an arrival earns that no row lists, where the set has such landings.
void note_landings(const Problem& problem, Communicator& ranks, Solution& solution);

// The answer of a solve: finish(), and the time. Where a stop leaves no time for that, the answer
// is the best of `evaluated`.
Solution finished(const Problem& problem, Solution solution, Stopwatch& watch, Workers& workers,
                  const GapTolerance& tolerance = {}, const StageStore* store = nullptr,
                  BestPolicy evaluated = BestPolicy{}, std::span<const double> near = {});

// The answer of a solve that was stopped: the best policy that was evaluated by then. Where there
// is none, half a second is spent on the policies that are best for one channel alone; where that
// is not enough to evaluate the first of them, there is no policy, and the worst cases are unknown.
// The status is `stopped` where no policy is known to keep the constraints.
Solution stopped(const Problem& problem, Solution solution, Stopwatch& watch, Workers& workers,
                 BestPolicy evaluated = BestPolicy{}, const GapTolerance& tolerance = {});

// The same for one that has a policy which was not evaluated yet: that comes first in the half
// second.
Solution stopped_with_policy(const Problem& problem, Solution solution, Stopwatch& watch,
                             Workers& workers, const GapTolerance& tolerance = {});

// Gives a policy of `stages` stages something to do after an infinite horizon was cut there, and
// says so.
void append_tail(const Problem& problem, Solution& solution, int stages, Workers& workers);

}  // namespace redoubt::internal
