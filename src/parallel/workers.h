#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel/stopwatch.h"
#include "redoubt/advanced/ranks.h"

namespace redoubt::internal {

// The one threading mechanism: a fixed group of threads that lives as long as a solve. One thread
// runs inline, without a pool. It also knows the other processes at work on the same problem.
class Workers {
 public:
  // body(begin, end, worker): items begin..end-1, done by worker 0..threads-1. Each item is done
  // once, by one worker; which worker does which items is not fixed, so items must not depend on
  // each other.
  using Body = std::function<void(std::int64_t begin, std::int64_t end, int worker)>;

  // The watch, if there is one, is asked on the calling thread between pieces of work: what runs
  // here can be stopped within a fraction of a second. Several ranks stop between sweeps only: one
  // that left a sweep would leave the others waiting.
  explicit Workers(int threads, Communicator& ranks = one_process(), Stopwatch* watch = nullptr);
  explicit Workers(const Execution& execution, Stopwatch* watch = nullptr)
      : Workers(execution.threads, execution.ranks ? *execution.ranks : one_process(), watch) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }
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
  void close();
  void run_chunks(int worker);
  void loop(int worker);

  Communicator* ranks_;
  Stopwatch* watch_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Body* body_ = nullptr;
  std::int64_t items_ = 0, chunk_ = 1;
  std::atomic<std::int64_t> next_ = 0;
  std::int64_t round_ = 0;
  int busy_ = 0;
  bool closing_ = false;
  std::exception_ptr failure_;
};

}  // namespace redoubt::internal
