#include "support/array_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace redoubt {
using namespace internal;
namespace {

// What is asked of the system about pages must not show: whatever the size, there are that many
// values, new ones are zero, and all can be written and fetched.
TEST(LargeArrays, AreVectorsLikeAnyOther) {
  std::vector<double> values;
  for (const std::size_t count : {0UL, 10UL, 3'000'000UL, 2'999'999UL, 1UL, 5'000'001UL}) {
    const bool grows = count > values.capacity();
    resize_with_large_pages(values, count);
    ASSERT_EQ(values.size(), count);
    if (grows) {
      EXPECT_EQ(std::count(values.begin(), values.end(), 0.0), count);
    }
    std::fill(values.begin(), values.end(), 1.0);
    if (count > 0) fetch(values.data(), static_cast<std::int64_t>(count));
    EXPECT_EQ(std::count(values.begin(), values.end(), 1.0), count);
  }
}

TEST(LargeArrays, AreFarAwayFromSomeSizeOn) {
  EXPECT_FALSE(is_far_away(std::vector<double>(100'000)));
  EXPECT_TRUE(is_far_away(std::vector<double>(10'000'000)));
}

}  // namespace
}  // namespace redoubt
