#include "bellman/over_states.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace redoubt {
using namespace internal;
namespace {

// Enough states that all threads are woken.
TEST(LeastOverStates, IsTheSameOnAnyNumberOfThreads) {
  constexpr std::size_t kCount = 7, kStates = 200'000;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(kStates * kCount);
  for (double& value : values) value = uniform(random);
  const auto worth = [](std::int64_t s) { return s % 3 == 0 ? 0.5 : 0.0; };
  std::vector<double> expected(kCount, std::numeric_limits<double>::infinity());
  for (std::size_t n = 0; n < values.size(); ++n)
    expected[n % kCount] = std::min(expected[n % kCount], values[n] + worth(n / kCount));
  for (const int threads : {1, 2, 3}) {
    Workers workers(threads);
    std::vector<double> least(kCount);
    min_over_states(
        workers, kStates, [&](State s) { return values.data() + s * kCount; }, worth, least);
    EXPECT_EQ(least, expected) << threads;
  }
}

TEST(LeastOverStates, HasNoSignWhereItIsZero) {
  Workers workers(1);
  const double values[] = {-0.0, 0.0};
  double least = 1;
  min_over_states(
      workers, 2, [&](State s) { return values + s; }, [](State) { return 0.0; }, {&least, 1});
  EXPECT_EQ(least, 0);
  EXPECT_FALSE(std::signbit(least));
}

TEST(LeastOverStates, IsInfiniteWithoutStates) {
  Workers workers(2);
  double least = 1;
  min_over_states(
      workers, 0, [](State) -> const double* { return nullptr; }, [](State) { return 0.0; },
      {&least, 1});
  EXPECT_EQ(least, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace redoubt
