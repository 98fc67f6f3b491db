#include "support/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace redoubt {
using namespace internal;
namespace {

std::uint64_t sum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

// Solutions and stores of samples have it: another value would refuse every file there is.
TEST(Checksum, IsWhatFilesHave) {
  EXPECT_EQ(sum_of("a seal of twenty bytes"), 9730085238677488253u);
}

TEST(Checksum, SeesEveryByte) {
  const std::string text = "a seal of twenty bytes";
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      EXPECT_NE(sum_of(other), sum_of(text));
    }
  }
}

TEST(Checksum, OfPiecesOfEightBytesIsThatOfTheWhole) {
  const std::string text(100, 'x');
  Checksum pieces;
  pieces.add(text.substr(0, 64));
  pieces.add(text.substr(64));
  EXPECT_EQ(pieces.value(), sum_of(text));
}

TEST(Checksum, ListsCountTheirLength) {
  Checksum one, two;
  one.add_all(std::string("ab")), one.add_all(std::string(""));
  two.add_all(std::string("a")), two.add_all(std::string("b"));
  EXPECT_NE(one.value(), two.value());
}

}  // namespace
}  // namespace redoubt
