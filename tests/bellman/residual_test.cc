#include "bellman/residual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace redoubt {
using namespace internal;
namespace {

// One state that earns 1 for ever: any guess of its value, and a sweep from there, give it exactly.
TEST(Residual, BracketOfOneStateIsItsValue) {
  for (const double guess : {0.0, 3.0, 50.0}) {
    Residual residual;
    const double after = 1 + 0.9 * guess;
    residual.add(guess, after);
    const Bracket found = bracket(residual, 0.9);
    EXPECT_NEAR(after + found.low, 10, 1e-12);
    EXPECT_NEAR(after + found.high, 10, 1e-12);
    EXPECT_NEAR(scale(residual, found), 10, 1e-12);
  }
}

// A state that earns 1 and ends with probability 1/2, and the terminal state: the value of the
// first is 1 / (1 - .9 / 2).
TEST(Residual, BracketHoldsWithTerminalStates) {
  const double value = 1 / (1 - 0.45);
  for (const double guess : {-5.0, 0.0, 1.5, 30.0}) {
    Residual residual;
    const double after = 1 + 0.45 * guess;
    residual.add(guess, after);
    residual.add(0, 0);
    const Bracket found = bracket(residual, 0.9);
    EXPECT_LE(after + found.low, value);
    EXPECT_GE(after + found.high, value);
  }
}

TEST(Residual, OfTwoThreadsIsThatOfAll) {
  Residual one, other, all;
  for (int i = 0; i < 10; ++i) {
    (i % 2 ? one : other).add(i, 0.3 * i * i);
    all.add(i, 0.3 * i * i);
  }
  one.add(other);
  EXPECT_EQ(one.low, all.low);
  EXPECT_EQ(one.high, all.high);
  EXPECT_EQ(one.least, all.least);
  EXPECT_EQ(one.most, all.most);
}

// Whatever comes after it, and whoever adds it up.
TEST(Residual, SeesWhatIsNotANumber) {
  std::vector<double> before(11, 1.0), after(11, 2.0);
  for (std::size_t bad = 0; bad < after.size(); ++bad) {
    for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      std::vector<double> from = before, to = after;
      from[bad] = to[bad] = value;  // infinity minus infinity is not a number either
      Residual one, many, all;
      for (std::size_t i = 0; i < to.size(); ++i) one.add(from[i], to[i]);
      many.add(from.data(), to.data(), static_cast<std::int64_t>(to.size()));
      all.add(many);
      EXPECT_FALSE(one.numbers || many.numbers || all.numbers) << bad;
      EXPECT_EQ(bracket(one, 0.5).width(), Residual::kNone);
    }
  }
  Residual good;
  good.add(before.data(), after.data(), 11);
  EXPECT_TRUE(good.numbers);
}

}  // namespace
}  // namespace redoubt
