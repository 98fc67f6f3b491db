#include "support/thread_pool.h"

#include <algorithm>
#include <system_error>

namespace redoubt::internal {

ThreadPool::ThreadPool(int threads) {
  try {
    for (int worker = 1; worker < threads; ++worker)
      threads_.emplace_back([this, worker] { loop(worker); });
  } catch (const std::system_error&) {  // those that there are do the work
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::for_each(std::int64_t items, std::int64_t chunk, const Body& body,
                          const std::function<void()>& between) {
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    between_ = between ? &between : nullptr;
    items_ = items;
    chunk_ = chunk;
    next_ = 0;
    busy_ = static_cast<int>(threads_.size());
    failure_ = nullptr;
    ++round_;
  }
  wake_.notify_all();
  run_chunks(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::run_chunks(int worker) {
  try {
    for (;;) {
      if (worker == 0 && between_) (*between_)();
      const std::int64_t begin = next_.fetch_add(chunk_);
      if (begin >= items_) return;
      (*body_)(begin, std::min(items_, begin + chunk_), worker);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = items_;
  }
}

void ThreadPool::loop(int worker) {
  std::int64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || round_ != seen; });
      if (closing_) return;
      seen = round_;
    }
    run_chunks(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace redoubt::internal
