#pragma once

#include <cstdint>

#include "parallel/stopwatch.h"
#include "redoubt/advanced/ranks.h"
#include "support/thread_pool.h"

namespace redoubt::internal {

// Who carries out a solve: a pool of threads that lives as long as it, the other processes at work
// on the same problem, and the watch that may stop it.
class Workers {
 public:
  using Body = ThreadPool::Body;

  // The watch, if there is one, is asked on the calling thread between pieces of work: what runs
  // here can be stopped within a fraction of a second. Several ranks stop between sweeps only: one
  // that left a sweep would leave the others waiting.
  explicit Workers(int threads, Communicator& ranks = one_process(), Stopwatch* watch = nullptr);
  explicit Workers(const Execution& execution, Stopwatch* watch = nullptr)
      : Workers(execution.threads, execution.ranks ? *execution.ranks : one_process(), watch) {}

  int count() const { return pool_.count(); }
  Communicator& ranks() const { return *ranks_; }

  // From the calling thread: throws Stopped when the watch says so. For work of one state or so; on
  // several ranks it asks nobody.
  void check();
  // The same between two sweeps, which all ranks begin together.
  void check_together();

  // Work below this many nanoseconds is not worth waking anybody for.
  static constexpr double kWorthwhile = 2e5;
  // Runs the body over items 0..items-1, on all threads when the whole is estimated to take long
  // enough. An exception in the body, or Stopped, ends the remaining chunks and is thrown here.
  void for_each(std::int64_t items, double nanoseconds, const Body& body);

 private:
  ThreadPool pool_;
  Communicator* ranks_;
  Stopwatch* watch_;
};

}  // namespace redoubt::internal
