#pragma once

#include <string>

#include "parallel/stopwatch.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/execution.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// The checkpoint of one solve, if the execution has one: every method offers its state at its
// boundaries, and begins by asking for the one that an earlier run left. The time that was spent on
// it is part of the state. Ranks call all of this together; the first says when it is time.
class SolverCheckpoint {
 public:
  // `method` has every option that can change the answer: "rcvi(slack=0, ...)".
  SolverCheckpoint(const Execution& execution, const Problem& problem, const std::string& method,
                   Stopwatch& watch);

  Stopwatch& watch() { return *watch_; }
  bool restore(const Checkpoint::State& state);  // false: nothing to go on from
  void offer(const Checkpoint::State& state);    // saved when it is time

 private:
  Checkpoint::State with_time(const Checkpoint::State& state);
  Checkpoint* checkpoint_;
  Stopwatch* watch_;
  Owners owners_;
  std::string work_;
};

}  // namespace redoubt::internal
