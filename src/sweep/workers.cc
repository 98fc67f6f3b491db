#include "sweep/workers.h"

#include <algorithm>

#include "model/require.h"

namespace redoubt {

Workers::Workers(int threads, Communicator& ranks) : ranks_(&ranks) {
  require(threads >= 1, "threads = {}, must be at least 1", threads);
  for (int worker = 1; worker < threads; ++worker)
    threads_.emplace_back([this, worker] { loop(worker); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::for_each(std::int64_t items, double nanoseconds, const Body& body) {
  if (items == 0) return;
  if (threads_.empty() || nanoseconds < kWorthwhile) return body(0, items, 0);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    items_ = items;
    chunk_ = std::max<std::int64_t>(
        1, items / (count() * 16));  // small enough to even out unequal states
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

void Workers::run_chunks(int worker) {
  try {
    for (;;) {
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

void Workers::loop(int worker) {
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

}  // namespace redoubt
