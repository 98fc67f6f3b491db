#include "parallel/workers.h"

#include <algorithm>

#include "support/require.h"

namespace redoubt::internal {
namespace {

// Nanoseconds between two looks at the watch, as estimated. Estimates may be wrong by a factor of a
// thousand: games take the rounds that they need.
constexpr double kLongestChunk = 1e5;

}  // namespace

Workers::Workers(int threads, Communicator& ranks, Stopwatch* watch)
    : pool_(threads), ranks_(&ranks), watch_(watch) {
  require(threads >= 1, "threads = {}, must be at least 1", threads);
  require(count() == threads, "threads = {}, the system gives {} at most", threads, count());
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
  if (nanoseconds < kWorthwhile || (count() == 1 && !watch_)) return body(0, items, 0);
  // Small enough to even out unequal states, and to look at the watch in between.
  const double patient = static_cast<double>(items) * std::min(1.0, kLongestChunk / nanoseconds);
  const auto chunk = std::clamp<std::int64_t>(
      items / (count() * 16), 1, std::max<std::int64_t>(1, static_cast<std::int64_t>(patient)));
  pool_.for_each(items, chunk, body, [this] { check(); });
}

}  // namespace redoubt::internal
