#include "numerics/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace redoubt {
using namespace internal;
namespace {

std::vector<double> terms_of_many_sizes(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1), exponent(-60, 10);
  std::vector<double> terms(300);
  for (double& term : terms) term = uniform(random) * std::exp2(exponent(random));
  return terms;
}

TEST(ExactSum, DoesNotDependOnTheOrderOfItsTerms) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::vector<double> terms = terms_of_many_sizes(seed);
    const double unit = ExactSum::unit_for(1.0);
    ExactSum forward, backward, halves[2];
    for (const double term : terms) forward.add(term, unit);
    for (std::size_t i = 0; i < terms.size(); ++i) halves[i % 2].add(terms[i], unit);
    std::reverse(terms.begin(), terms.end());
    for (const double term : terms) backward.add(term, unit);
    halves[1].add(halves[0]);  // what two ranks have of it
    EXPECT_TRUE(forward == backward);
    EXPECT_TRUE(forward == halves[1]);
    EXPECT_EQ(forward.value(unit), backward.value(unit));
  }
}

TEST(ExactSum, IsTheSumOfItsTerms) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const double unit = ExactSum::unit_for(1.0);
    ExactSum sum;
    long double plain = 0;
    for (const double term : terms_of_many_sizes(seed)) sum.add(term, unit), plain += term;
    EXPECT_NEAR(sum.value(unit), static_cast<double>(plain), 1e-13);
  }
}

TEST(ExactSum, KeepsSmallTermsBesideLargeOnes) {
  const double unit = ExactSum::unit_for(1.0);
  ExactSum sum;
  sum.add(0x1p18, unit);
  for (int n = 0; n < 1024; ++n) sum.add(0x1p-60, unit);
  sum.add(-0x1p18, unit);
  EXPECT_EQ(sum.value(unit), 0x1p-50);  // in double precision nothing would be left
}

TEST(Grid, MakesSumsExactInAnyOrder) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Grid grid(1.0);
    std::vector<double> terms = terms_of_many_sizes(seed);
    for (double& term : terms) term = grid(term / 2048);
    double forward = 0, backward = 0;
    for (const double term : terms) forward += term;
    std::reverse(terms.begin(), terms.end());
    for (const double term : terms) backward += term;
    EXPECT_EQ(forward, backward);
  }
}

TEST(Grid, MovesATermByLittle) {
  const Grid grid(3.0);
  for (double term : terms_of_many_sizes(7)) {
    term = std::clamp(term, -3.0, 3.0);
    EXPECT_NEAR(grid(term), term, 4 * 0x1p-48);  // 4: the next power of two
  }
}

}  // namespace
}  // namespace redoubt
