#include "sets/row_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sets/check_rows.h"
#include "sets/row.h"
#include "support/set_rows.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr int kMostOutcomes = 20;  // more than two blocks of lanes, and a rest

// Rows one after the other, in compressed storage.
struct Rows {
  std::vector<std::int64_t> begin = {0};
  std::vector<double> probability;

  void add(const std::vector<double>& row) {
    probability.insert(probability.end(), row.begin(), row.end());
    begin.push_back(static_cast<std::int64_t>(probability.size()));
  }
  std::int64_t count() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  bool right(InstructionSet instructions) const {
    return row_checks(instructions).distributions(begin.data(), count(), probability.data());
  }
};

// Halves of halves: their sum is one without rounding.
std::vector<double> exact_row(int outcomes) {
  std::vector<double> row(outcomes);
  double left = 1;
  for (int i = 0; i + 1 < outcomes; ++i) left -= row[i] = left / 2;
  row[outcomes - 1] = left;
  return row;
}

TEST(RowChecks, FindOneWrongProbabilityAnywhere) {
  for (const InstructionSet instructions : instruction_sets()) {
    for (int outcomes = 1; outcomes <= kMostOutcomes; ++outcomes) {
      Rows rows;
      for (int row = 0; row < 3; ++row) rows.add(exact_row(outcomes));
      ASSERT_TRUE(rows.right(instructions)) << outcomes;
      for (std::size_t i = 0; i < rows.probability.size(); ++i) {
        const double was = rows.probability[i];
        for (const double wrong : {was + 1e-10, was - 1e-10, 0.0, -was, kNotANumber, kInfinity}) {
          rows.probability[i] = wrong;
          ASSERT_FALSE(rows.right(instructions)) << outcomes << " outcomes, " << i << ": " << wrong;
        }
        rows.probability[i] = was;
      }
    }
    // Their sums are right.
    Rows negative, zero, above;
    negative.add({0.75, -0.25, 0.5});
    zero.add({0.5, 0, 0.5});
    above.add({std::nextafter(1.0, 2.0)});
    for (const Rows& rows : {negative, zero, above}) EXPECT_FALSE(rows.right(instructions));
    Rows empty;
    empty.add({});
    EXPECT_FALSE(empty.right(instructions));
  }
}

// Rows that are one but for rounding are used as they are, by whoever looks at them.
TEST(RowChecks, AgreeWithTheSlowCheck) {
  std::mt19937_64 random(3);
  int right = 0, wrong = 0;
  for (int n = 0; n < 3000; ++n) {
    auto p = testing::plain_row(random, 1 + n % kMostOutcomes, 0.1).probability;
    p[n % p.size()] *= 1 + 1e-16 * static_cast<double>(random() % 300);
    bool as_it_is = false;
    try {
      const RowMass mass = check_probabilities(p);
      as_it_is = mass.is_one && !mass.has_zeros;
    } catch (const Error&) {  // a probability above one
    }
    ++(as_it_is ? right : wrong);
    Rows rows;
    rows.add(p);
    std::vector<double> lanes(p.size() * kLaneBlock);
    for (const InstructionSet instructions : instruction_sets()) {
      EXPECT_EQ(rows.right(instructions), as_it_is);
      EXPECT_EQ(row_checks(instructions)
                    .spread(p.data(), p.data(), static_cast<int>(p.size()), lanes.data()),
                as_it_is);
    }
  }
  EXPECT_GT(right, 500);
  EXPECT_GT(wrong, 500);
}

TEST(RowChecks, SpreadARowThatIsRightWithItsValues) {
  std::mt19937_64 random(4);
  for (const InstructionSet instructions : instruction_sets()) {
    for (int outcomes = 1; outcomes <= kMostOutcomes; ++outcomes) {
      std::vector<double> p = exact_row(outcomes), values(outcomes), lanes(outcomes * kLaneBlock);
      for (double& value : values) value = testing::uniform(random);
      const auto spread = [&] {
        return row_checks(instructions).spread(p.data(), values.data(), outcomes, lanes.data());
      };
      ASSERT_TRUE(spread());
      for (int i = 0; i < outcomes * kLaneBlock; ++i) ASSERT_EQ(lanes[i], values[i / kLaneBlock]);
      for (int i = 0; i < outcomes; ++i) {
        const double was = p[i], value = values[i];
        for (const double wrong : {was + 1e-10, 0.0, -was, kNotANumber, kInfinity}) {
          p[i] = wrong;
          ASSERT_FALSE(spread()) << wrong;
        }
        p[i] = was;
        for (const double wrong : {kNotANumber, kInfinity, -kInfinity}) {
          values[i] = wrong;
          ASSERT_FALSE(spread()) << wrong;
        }
        values[i] = value;
      }
    }
  }
}

TEST(RowChecks, FindOneWrongNumberAnywhere) {
  for (const InstructionSet instructions : instruction_sets()) {
    const RowChecks& checks = row_checks(instructions);
    EXPECT_TRUE(checks.below(nullptr, 0, 0));
    EXPECT_TRUE(checks.finite(nullptr, 0));
    for (int count = 1; count <= 40; ++count) {
      std::vector<std::int32_t> numbers(count, 6);
      std::vector<double> values(count, std::numeric_limits<double>::max());
      EXPECT_TRUE(checks.below(numbers.data(), count, 7));
      EXPECT_FALSE(checks.below(numbers.data(), count, 6));
      EXPECT_TRUE(checks.finite(values.data(), count));
      for (int i = 0; i < count; ++i) {
        for (const std::int32_t wrong : {7, -1, std::numeric_limits<std::int32_t>::min()}) {
          numbers[i] = wrong;
          ASSERT_FALSE(checks.below(numbers.data(), count, 7));
        }
        numbers[i] = 0;
        for (const double wrong : {kNotANumber, kInfinity, -kInfinity}) {
          values[i] = wrong;
          ASSERT_FALSE(checks.finite(values.data(), count));
        }
        values[i] = -1;
      }
    }
  }
}

}  // namespace
}  // namespace redoubt
