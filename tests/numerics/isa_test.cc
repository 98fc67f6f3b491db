#include "numerics/isa.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace redoubt {
using namespace internal;
namespace {

TEST(InstructionSets, AreThoseOfTheProcessorUnlessTheEnvironmentSaysLess) {
  for (const std::size_t known : {1, 2, 3}) {
    EXPECT_EQ(count_instruction_sets(nullptr, known), known);
    EXPECT_EQ(count_instruction_sets("", known), known);
    EXPECT_EQ(count_instruction_sets("baseline", known), 1);
  }
  EXPECT_EQ(count_instruction_sets("avx2", 3), 2);
  EXPECT_EQ(count_instruction_sets("avx512", 3), 3);
  EXPECT_THROW(count_instruction_sets("avx2", 1), std::invalid_argument);
  EXPECT_THROW(count_instruction_sets("avx512", 2), std::invalid_argument);
  EXPECT_THROW(count_instruction_sets("AVX2", 3), std::invalid_argument);
}

}  // namespace
}  // namespace redoubt
