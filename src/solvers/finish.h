#pragma once

#include "policy/evaluation.h"
#include "redoubt/solve.h"
#include "redoubt/stage_store.h"
#include "solvers/gap_tolerance.h"
#include "sweep/stopwatch.h"
#include "sweep/workers.h"

namespace redoubt {

// Evaluates the policy of a solution and fills in what the answer says of it: the worst cases and
// the status. A bound that a method has proved must be set before; `tolerance` is the gap that
// counts as certified. Stages of which the policy has no decisions come from the store.
void finish(const Problem& problem, Solution& solution, Workers& workers,
            const GapTolerance& tolerance = {}, const StageStore* store = nullptr);

// Adds a note of what an arrival earns that no row lists, where the set has such landings.
void note_landings(const Problem& problem, Communicator& ranks, Solution& solution);

// The same as finish from an evaluation that is at hand.
void judge(EvaluationPass pass, const GapTolerance& tolerance, Solution& solution);

// The answer of a solve that was stopped before it had a policy: the policy that is safest for the
// first constraint. It must be there within half a second: where that is not enough to find this
// policy, the answer is the first action everywhere.
Solution stopped(const Problem& problem, Solution solution, Stopwatch& watch, Workers& workers);

// The answer of a solve: finish(), and the time. A stop on the way is as below.
Solution finished(const Problem& problem, Solution solution, Stopwatch& watch, Workers& workers,
                  const GapTolerance& tolerance = {}, const StageStore* store = nullptr);

// The answer of a solve that was stopped with the policy that the solution holds. Where half a
// second is not enough to evaluate it, its worst cases are unknown (NaN), and a note says so.
Solution stopped_with_policy(const Problem& problem, Solution solution, Stopwatch& watch,
                             Workers& workers, const StageStore* store = nullptr);

// Gives a policy of `stages` stages something to do after an infinite horizon was cut there, and
// says so.
void append_tail(const Problem& problem, Solution& solution, int stages, Workers& workers);

}  // namespace redoubt
