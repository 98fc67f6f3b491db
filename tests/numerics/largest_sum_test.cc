#include "numerics/kernels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace redoubt {
using namespace internal;
namespace {

TEST(LargestSum, IsThatOfTheFirstBestVector) {
  for (const InstructionSet instructions : instruction_sets()) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
      std::mt19937 random(seed);
      const int coordinates = 1 + static_cast<int>(seed % 5),
                blocks = 1 + static_cast<int>(seed % 7);
      std::vector<double> vectors(static_cast<std::size_t>(blocks) * coordinates * 8);
      for (double& entry : vectors) entry = static_cast<double>(random() % 4);  // many ties
      std::vector<double> factor(coordinates);
      for (double& entry : factor) entry = static_cast<double>(random() % 3);
      std::int64_t best = 0;
      double most = -1;
      for (int n = 0; n < 8 * blocks; ++n) {
        double sum = 0;
        for (int j = 0; j < coordinates; ++j)
          sum += factor[j] * vectors[(n / 8 * coordinates + j) * 8 + n % 8];
        if (sum > most) most = sum, best = n;
      }
      const LargestSum found =
          largest_sum_function(instructions)(vectors.data(), blocks, coordinates, factor.data());
      EXPECT_EQ(found.which, best) << seed;
      EXPECT_EQ(found.value, most) << seed;
    }
  }
}

}  // namespace
}  // namespace redoubt
