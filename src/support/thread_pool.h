#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace redoubt::internal {

// The one threading mechanism: a fixed group of threads, of which the caller's is the first.
class ThreadPool {
 public:
  // body(begin, end, worker): items begin..end-1, done by worker 0..count()-1. Each item is done
  // once, by one worker; which worker does which items is not fixed, so items must not depend on
  // each other.
  using Body = std::function<void(std::int64_t begin, std::int64_t end, int worker)>;

  // Fewer threads where the system does not give as many: count() tells.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }

  // Runs the body over items 0..items-1, `chunk` at a time. `between` is called on the caller's
  // thread before each of its chunks. What either throws ends the remaining chunks and is thrown
  // here.
  void for_each(std::int64_t items, std::int64_t chunk, const Body& body,
                const std::function<void()>& between = {});

 private:
  void run_chunks(int worker);
  void loop(int worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Body* body_ = nullptr;
  const std::function<void()>* between_ = nullptr;
  std::int64_t items_ = 0, chunk_ = 1;
  std::atomic<std::int64_t> next_ = 0;
  std::int64_t round_ = 0;
  int busy_ = 0;
  bool closing_ = false;
  std::exception_ptr failure_;
};

}  // namespace redoubt::internal
