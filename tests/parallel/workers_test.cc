#include "parallel/workers.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace redoubt {
using namespace internal;
namespace {

constexpr double kLong = 1e9;  // nanoseconds: worth waking everybody

class WorkersTest : public ::testing::TestWithParam<int> {};

TEST_P(WorkersTest, DoesEachItemOnce) {
  Workers workers(GetParam());
  EXPECT_EQ(workers.count(), GetParam());
  for (const std::int64_t items : {0, 1, 2, 7, 64, 1000}) {
    std::vector<std::atomic<int>> done(items);
    std::atomic<bool> known = true;
    workers.for_each(items, kLong, [&](std::int64_t begin, std::int64_t end, int worker) {
      known = known && begin < end && worker >= 0 && worker < workers.count();
      for (auto i = begin; i < end; ++i) ++done[i];
    });
    EXPECT_TRUE(known);
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
}

TEST_P(WorkersTest, GoesOnAfterAnException) {
  Workers workers(GetParam());
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(workers.for_each(1000, kLong,
                                  [&](std::int64_t begin, std::int64_t end, int) {
                                    if (begin <= 500 && 500 < end)
                                      throw std::runtime_error("item 500");
                                  }),
                 std::runtime_error);
    std::atomic<std::int64_t> sum = 0;
    workers.for_each(100, kLong, [&](std::int64_t begin, std::int64_t end, int) {
      for (auto i = begin; i < end; ++i) sum += i;
    });
    EXPECT_EQ(sum, 4950);
  }
}

TEST_P(WorkersTest, ManyShortRounds) {
  Workers workers(GetParam());
  std::atomic<std::int64_t> sum = 0;
  for (int round = 0; round < 2000; ++round) {
    workers.for_each(4, kLong,
                     [&](std::int64_t begin, std::int64_t end, int) { sum += end - begin; });
  }
  EXPECT_EQ(sum, 8000);
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkersTest, ::testing::Values(1, 2, 3, 4));

TEST(Workers, WakesNobodyForLittleWork) {
  Workers workers(4);
  std::set<int> seen;  // only one thread writes, or a sanitizer will tell
  int calls = 0;
  workers.for_each(1000, Workers::kWorthwhile / 2,
                   [&](std::int64_t begin, std::int64_t end, int w) {
                     EXPECT_EQ(begin, 0);
                     EXPECT_EQ(end, 1000);
                     seen.insert(w);
                     ++calls;
                   });
  EXPECT_EQ(seen, std::set<int>{0});
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace redoubt
