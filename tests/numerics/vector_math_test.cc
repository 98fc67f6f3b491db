#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "numerics/kernels.h"
#include "support/set_rows.h"

namespace redoubt {
using namespace internal;
namespace {

using Reference = long double (*)(long double);

// The largest relative error over the points, in units of 2^-52.
double largest_error(VectorFunction function, Reference reference, std::vector<double> x) {
  x.resize((x.size() + 7) / 8 * 8, 1.0);
  std::vector<double> y(x.size());
  function(x.data(), y.data(), static_cast<int>(x.size()));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double expected = reference(x[i]);
    const long double error = std::abs(y[i] - expected) / std::abs(expected);
    if (expected != 0 || y[i] != 0) worst = std::max(worst, static_cast<double>(error * 0x1p52L));
  }
  return worst;
}

template <class Draw>
std::vector<double> points(Draw draw) {
  std::mt19937_64 random(1);
  std::vector<double> x;
  for (int i = 0; i < 200000; ++i) x.push_back(draw(random));
  return x;
}

double any_magnitude(std::mt19937_64& random, double least, double most) {
  return std::exp(testing::uniform(random, std::log(least), std::log(most)));
}

class VectorMath : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const VectorFunctions& functions = vector_functions(GetParam());
};

TEST_P(VectorMath, ExpIsAccurateToAUnitInTheLastPlace) {
  EXPECT_LE(largest_error(functions.exp, std::exp, points([](auto& random) {
                            return testing::uniform(random, -707.9, 709);
                          })),
            1.0);
}

TEST_P(VectorMath, Expm1IsAccurateAlsoNearZero) {
  EXPECT_LE(largest_error(functions.expm1, std::expm1, points([](auto& random) {
                            const double x = any_magnitude(random, 1e-18, 100);
                            return random() % 2 ? x : -x;
                          })),
            1.5);
}

TEST_P(VectorMath, LogIsAccurate) {
  EXPECT_LE(largest_error(functions.log, std::log, points([](auto& random) {
                            return any_magnitude(random, 1e-307, 1e300);
                          })),
            1.5);
}

// Away from zero the rounding of 1 + x comes on top.
TEST_P(VectorMath, Log1pIsAccurateAlsoNearZero) {
  EXPECT_LE(largest_error(functions.log1p, std::log1p,
                          points([](auto& random) { return any_magnitude(random, 1e-18, 1e200); })),
            2.0);
}

TEST_P(VectorMath, EdgesAreExact) {
  std::vector<double> x = {0, -0.0, -707, -709, -1000, -1e300, 1, 0}, y(8);
  functions.exp(x.data(), y.data(), 8);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
  EXPECT_GT(y[2], 0);
  EXPECT_EQ(y[3], 0);  // flushed, not clamped
  EXPECT_EQ(y[4], 0);
  EXPECT_EQ(y[5], 0);
  x = {1, 1, 1, 1, 2, 0.5, 1, 1};
  functions.log(x.data(), y.data(), 8);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[4], -y[5]);
  x = {0, 1e-300, 0, 0, 0, 0, 0, 0};
  functions.log1p(x.data(), y.data(), 8);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 1e-300);
}

INSTANTIATE_TEST_SUITE_P(On, VectorMath,
                         ::testing::ValuesIn(instruction_sets().begin(), instruction_sets().end()),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace redoubt
