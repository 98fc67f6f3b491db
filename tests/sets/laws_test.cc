#include "support/set_laws.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "model/set_traits.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::broken_law;
using testing::SetRow;

// Small rows of round numbers: ties are common, and a counterexample shrinks to something one can
// read.
SetRow arbitrary_row(const Uncertainty& set) {
  SetRow row;
  const int outcomes = *rc::gen::inRange(1, 9);
  row.lanes = *rc::gen::inRange(1, 12);
  const auto weights = *rc::gen::container<std::vector<int>>(outcomes, rc::gen::inRange(1, 1000));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool tilt = std::holds_alternative<Tilt>(set);
  row.radius = *rc::gen::inRange(tilt ? 1 : 0, 2000) / 1000.0;
  for (const int weight : weights) {
    row.probability.push_back(weight / total);
    const double p = row.probability.back(), slack = *rc::gen::inRange(0, 100) / 100.0;
    row.lower.push_back(p * slack);
    row.upper.push_back(std::min(1.0, p + (1 - slack) * 0.5));
  }
  const int padded = padded_lanes(row.lanes);
  for (int i = 0; i < outcomes; ++i) {
    const auto values = *rc::gen::container<std::vector<int>>(padded, rc::gen::inRange(-20, 20));
    row.values.emplace_back(values.begin(), values.end());
  }
  if (internal::lands_anywhere(set)) {
    const auto floor = *rc::gen::container<std::vector<int>>(padded, rc::gen::inRange(-25, 20));
    row.floor.assign(floor.begin(), floor.end());
  }
  return row;
}

RC_GTEST_PROP(SetLaws, HoldForEverySet, ()) {
  for (const Uncertainty& set : testing::every_set())
    RC_ASSERT(broken_law(set, worst_case_kernel(set), arbitrary_row(set)) == "");
}

TEST(SetLaws, HoldOnNastyRowsWithEveryInstructionSet) {
  std::mt19937_64 of_balls(3), of_composed(4);
  for (const InstructionSet instructions : instruction_sets()) {
    for (const Uncertainty& set : testing::every_set()) {
      auto& random = std::holds_alternative<Composed>(set) ? of_composed : of_balls;
      for (int n = 0; n < 300; ++n)
        ASSERT_EQ(broken_law(set, worst_case_kernel(set, instructions),
                             testing::nasty_row(random, set), 1e-8),
                  "")
            << name(instructions) << ", row " << n;
    }
  }
}

// A checker that cannot fail checks nothing: each law must catch a kernel that breaks it.
TEST(SetLaws, AreBrokenByTheWrongKernel) {
  std::mt19937_64 random(4);
  const SetRow row = testing::plain_row(random, 6, 0.3);
  const auto verdict = [&](const Uncertainty& set, const Uncertainty& kernel) {
    return broken_law(set, worst_case_kernel(kernel), row);
  };
  EXPECT_EQ(verdict(KL{}, KL{}), "");
  EXPECT_NE(verdict(KL{}, Tilt{}), "");
  EXPECT_NE(verdict(Chi2{}, KL{}), "");
  EXPECT_NE(verdict(Interval{}, TV{}), "");
  EXPECT_NE(verdict(Nominal{}, Chi2{}), "");
  EXPECT_NE(verdict(Tilt{}, Nominal{}), "");
}

}  // namespace
}  // namespace redoubt
