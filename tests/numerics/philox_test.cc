#include "numerics/philox.h"

#include <gtest/gtest.h>

#include <vector>

namespace redoubt {
using namespace internal;
namespace {

using Block = std::array<std::uint32_t, 4>;

// The known answers that the Random123 distribution publishes for philox4x32-10.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox_block({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, StreamReadsBlocksInOrder) {
  RandomStream zero(0);
  EXPECT_EQ(zero.bits(), 0xe169c58d6627e8d5u);
  EXPECT_EQ(zero.bits(), 0x9b00dbd8bc57ac4cu);
  RandomStream stream(0x0000000200000001u, 0x0000000400000003u, 5);
  for (std::uint32_t block = 0; block < 3; ++block) {
    const Block expected = philox_block({block, 5, 3, 4}, {1, 2});
    EXPECT_EQ(stream.bits(), std::uint64_t{expected[1]} << 32 | expected[0]);
    EXPECT_EQ(stream.bits(), std::uint64_t{expected[3]} << 32 | expected[2]);
  }
}

TEST(Philox, UniformKeepsTheTop53Bits) {
  RandomStream zero(0);
  EXPECT_EQ(zero.uniform(), static_cast<double>(0xe169c58d6627e8d5u >> 11) / 9007199254740992.0);
}

TEST(Philox, MomentsOfUniformAndNormal) {
  const int draws = 200'000;
  double uniform = 0, mean = 0, square = 0, fourth = 0;
  RandomStream stream(7, 1, 2);
  for (int i = 0; i < draws; ++i) {
    uniform += stream.uniform() / draws;
    const double z = stream.normal();
    mean += z / draws;
    square += z * z / draws;
    fourth += z * z * z * z / draws;
  }
  // Five standard deviations of each average.
  EXPECT_NEAR(uniform, 0.5, 5 * std::sqrt(1 / 12.0 / draws));
  EXPECT_NEAR(mean, 0, 5 * std::sqrt(1.0 / draws));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / draws));
  EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96.0 / draws));
}

TEST(Philox, BelowIsUniformAndInRange) {
  const int draws = 70'000;
  std::vector<int> count(7);
  RandomStream stream(3);
  for (int i = 0; i < draws; ++i) ++count.at(stream.below(7));
  for (const int c : count) EXPECT_NEAR(c, draws / 7.0, 5 * std::sqrt(draws * 6.0 / 49));
  EXPECT_EQ(stream.below(1), 0u);
}

// With n = 3 * 2^62 a plain remainder would return values below 2^62 twice as often as the others.
TEST(Philox, BelowHasNoBiasForLargeRanges) {
  const std::uint64_t quarter = std::uint64_t{1} << 62;
  const int draws = 30'000;
  int low = 0;
  RandomStream stream(11);
  for (int i = 0; i < draws; ++i) low += stream.below(3 * quarter) < quarter;
  EXPECT_NEAR(low, draws / 3.0, 5 * std::sqrt(draws * 2.0 / 9));
}

}  // namespace
}  // namespace redoubt
