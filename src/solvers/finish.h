#pragma once

#include <chrono>

#include "model/agree.h"
#include "redoubt/solve.h"
#include "redoubt/stage_store.h"
#include "sweep/workers.h"

namespace redoubt {

// Time since a solve began, and whether it should end.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  // Reports progress; true when the time is up or the caller asked to stop, on any rank.
  bool stop(const Execution& execution, Communicator& ranks, double done) const {
    const bool late = seconds() > execution.time_limit;
    return any_rank(ranks, late || (execution.progress && !execution.progress(done)));
  }
  bool stop(const Execution& execution, double done) const {
    return stop(execution, one_process(), done);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

// Evaluates the policy of a solution and fills in what the answer says of it: the worst cases and
// the status. A bound that a method has proved must be set before; `tolerance` is the relative gap
// that counts as certified. Stages of which the policy has no decisions come from the store.
void finish(const Problem& problem, Solution& solution, Workers& workers, double tolerance = 0,
            const StageStore* store = nullptr);

// The answer of a solve that was stopped before it had a policy: the policy that is safest for the
// first constraint.
Solution stopped(const Problem& problem, Solution solution, const Stopwatch& watch,
                 Workers& workers);

// Gives a policy of `stages` stages something to do after an infinite horizon was cut there, and
// says so.
void append_tail(const Problem& problem, Solution& solution, int stages, Workers& workers);

}  // namespace redoubt
