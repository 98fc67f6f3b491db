#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "sets/worst_case.h"
#include "support/set_laws.h"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment))
    return memory;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined: where compilers see half of a pair, they take it for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return counted(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace redoubt {
using namespace internal;
namespace {

using testing::SetRow;

// The figure that the speed of kl rests on, and which no busy machine can blur.
TEST(KlWork, IsOneEvaluationPerBlock) {
  for (const int outcomes : {10, 20})
    for (const double radius : {0.01, 0.05}) {
      std::mt19937_64 random(1);
      Scratch scratch;
      for (int n = 0; n < 500; ++n)
        solve(worst_case_kernel(KL{}), testing::plain_row(random, outcomes, radius, 64), scratch);
      EXPECT_LE(scratch.work.evaluations, 1.1 * scratch.work.blocks)
          << outcomes << " outcomes, radius " << radius;
      EXPECT_EQ(scratch.work.blocks, 500 * 8);
    }
}

// Rows in which nature goes for an outcome that is next to impossible: the tilt is then far from
// what the moments of the row suggest.
TEST(KlWork, IsLittleMoreInRowsWithRareOutcomes) {
  for (const double radius : {0.01, 0.05, 0.2}) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    Scratch scratch;
    for (int n = 0; n < 500; ++n) {
      SetRow row = testing::plain_row(random, 10, radius, 64);
      const double deviation = 100 * std::generate_canonical<double, 53>(random);
      double sum = 0;
      for (double& p : row.probability) sum += p = std::exp(deviation * normal(random));
      for (double& p : row.probability) p /= sum;
      solve(worst_case_kernel(KL{}), row, scratch);
    }
    EXPECT_LE(scratch.work.evaluations, 3.5 * scratch.work.blocks) << "radius " << radius;
    EXPECT_GE(scratch.work.blocks, 500 * 8 * 0.9);
  }
}

TEST(KlWork, IsNothingWhereTheAnswerIsPlain) {
  std::mt19937_64 random(1);
  Scratch scratch;
  SetRow row = testing::plain_row(random, 5, 0.1);
  for (auto& outcome : row.values) outcome = row.values[0];
  solve(worst_case_kernel(KL{}), row, scratch);
  EXPECT_EQ(scratch.work.evaluations, 0);
}

TEST(Kernels, DoNotAllocateAfterTheFirstCall) {
  std::mt19937_64 random(2);
  for (const Uncertainty& set : testing::every_set()) {
    const WorstCase kernel = worst_case_kernel(set);
    const SetRow row = testing::plain_row(random, 17, 0.4, 24);
    std::vector<const double*> values;
    for (const auto& outcome : row.values) values.push_back(outcome.data());
    std::vector<double> worst(24), minimiser(18 * 24);
    Scratch scratch;
    const auto call = [&](int outcomes) {
      kernel({outcomes, row.probability.data(), row.radius, row.lower.data(), row.upper.data()},
             {24, values.data()}, scratch, worst.data(), minimiser.data());
    };
    call(17);
    const long before = allocations;
    for (int outcomes = 1; outcomes <= 17; ++outcomes) call(outcomes);
    EXPECT_EQ(allocations, before) << testing::describe(set);
  }
}

// The same bits wherever the values lie in memory.
TEST(Kernels, DoNotDependOnAlignment) {
  std::mt19937_64 random(5);
  for (const Uncertainty& set : testing::every_set()) {
    const SetRow row = testing::plain_row(random, 9, 0.3);
    const WorstCase kernel = worst_case_kernel(set);
    Scratch scratch;
    const std::vector<double> expected = solve(kernel, row, scratch).worst;
    for (int offset = 1; offset < 8; ++offset) {
      std::vector<double> memory(offset + 9 * kLaneBlock), worst(offset + kLaneBlock);
      std::vector<const double*> values;
      for (int i = 0; i < 9; ++i) {
        double* place = memory.data() + offset + i * kLaneBlock;
        std::copy(row.values[i].begin(), row.values[i].end(), place);
        values.push_back(place);
      }
      kernel({9, row.probability.data(), row.radius, row.lower.data(), row.upper.data()},
             {kLaneBlock, values.data()}, scratch, worst.data() + offset, nullptr);
      for (int lane = 0; lane < kLaneBlock; ++lane)
        EXPECT_EQ(worst[offset + lane], expected[lane]) << testing::describe(set);
    }
  }
}

}  // namespace
}  // namespace redoubt
