#pragma once

#include <functional>
#include <limits>
#include <memory>

namespace redoubt {

class Checkpoint;
class Communicator;
class StageStore;

// Bytes of RAM that one process needs for a solve.
struct MemoryPlan {
  double model = 0;   // the rows that it has
  double values = 0;  // layers of values of its own states
  double halo = 0;    // the same for states of other ranks, and messages under way
  double policy = 0;  // stages that are in RAM
  double growth = 0;  // what a search that refines itself may add to all that, at most
  double bytes() const { return model + values + halo + policy; }  // to begin with
};

// How work is carried out; nothing here changes an answer, except that a stopped solve returns the
// best so far.
struct Execution {
  int threads = 1;
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  // Called now and then with the share of the work done, in [0, 1]; returning false stops the work.
  std::function<bool(double done)> progress = {};
  // The ranks that solve the problem together, each with a subproblem (redoubt/advanced/ranks.h).
  // Null: this process has the whole problem.
  Communicator* ranks = nullptr;
  // Where the stages of the policy go as they are made (redoubt/advanced/stage_store.h). Null: into
  // RAM.
  StageStore* stages = nullptr;
  // Called once, before the work, with the bytes that this process will need for it.
  std::function<void(const MemoryPlan& memory)> planned = {};
  // Where a solve keeps its state every few seconds, and from where it goes on when there is one
  // already: checkpoint_file() in redoubt/io.h. The answer is the same to the last bit, times
  // apart.
  std::shared_ptr<Checkpoint> checkpoint = {};
  // Seconds since some moment: what time limits and reported times go by. Empty: the machine's
  // clock.
  std::function<double()> clock = {};
};

}  // namespace redoubt
