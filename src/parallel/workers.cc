#include "parallel/workers.h"

#include <algorithm>
#include <system_error>

#include "support/require.h"

namespace redoubt::internal {
namespace {

// Nanoseconds between two looks at the watch, as estimated. Estimates may be wrong by a factor of a
// thousand: games take the rounds that they need.
constexpr double kLongestChunk = 1e5;

}  // namespace

Workers::Workers(int threads, Communicator& ranks, Stopwatch* watch)
    : ranks_(&ranks), watch_(watch) {
  require(threads >= 1, "threads = {}, must be at least 1", threads);
  try {
    for (int worker = 1; worker < threads; ++worker)
      threads_.emplace_back([this, worker] { loop(worker); });
  } catch (const std::system_error& error) {
    const auto started = threads_.size() + 1;
    close();
    throw Error(fmt::format("threads = {}, the system gives {} at most ({})", threads, started,
                            error.code().message()));
  }
}

Workers::~Workers() { close(); }

void Workers::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::check() {
  if (watch_ && ranks_->size() == 1) watch_->check();
}

void Workers::check_together() {
  if (watch_) watch_->check_together();
}

void Workers::for_each(std::int64_t items, double nanoseconds, const Body& body) {
  if (items == 0) return;
  check();
  if (nanoseconds < kWorthwhile || (threads_.empty() && !watch_)) return body(0, items, 0);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    items_ = items;
    // Small enough to even out unequal states, and to look at the watch in between.
    const double patient = static_cast<double>(items) * std::min(1.0, kLongestChunk / nanoseconds);
    chunk_ = std::clamp<std::int64_t>(
        items / (count() * 16), 1, std::max<std::int64_t>(1, static_cast<std::int64_t>(patient)));
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
      if (worker == 0) check();
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

}  // namespace redoubt::internal
