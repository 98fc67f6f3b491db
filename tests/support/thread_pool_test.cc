#include "support/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace redoubt {
using namespace internal;
namespace {

TEST(ThreadPool, IsOneThreadAtLeast) {
  for (const int threads : {-1, 0, 1}) EXPECT_EQ(ThreadPool(threads).count(), 1);
}

TEST(ThreadPool, GivesChunksOfTheSizeThatWasAsked) {
  ThreadPool pool(3);
  std::atomic<int> whole = 0, rest = 0;
  pool.for_each(10, 4, [&](std::int64_t begin, std::int64_t end, int) {
    ++(end - begin == 4 ? whole : rest);
  });
  EXPECT_EQ(whole, 2);
  EXPECT_EQ(rest, 1);
}

TEST(ThreadPool, AsksBetweenChunksOnTheCallersThread) {
  ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  int asked = 0;
  const auto between = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    ++asked;
  };
  pool.for_each(
      100, 1, [](std::int64_t, std::int64_t, int) {}, between);
  EXPECT_GE(asked, 1);
}

TEST(ThreadPool, EndsWhatIsLeftWhenAskedTo) {
  ThreadPool pool(1);
  int asked = 0, done = 0;
  const auto between = [&] {
    if (++asked == 4) throw std::runtime_error("enough");
  };
  EXPECT_THROW(pool.for_each(
                   100, 1, [&](std::int64_t, std::int64_t, int) { ++done; }, between),
               std::runtime_error);
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace redoubt
