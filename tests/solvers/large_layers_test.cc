// Layers that no cache holds are laid out and read differently; what comes out is the same.
#include <gtest/gtest.h>

#include "redoubt/environments.h"
#include "redoubt/solve.h"
#include "support/array_memory.h"
#include "support/on_ranks.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr int kCopies = 80, kCells = 2000;

// The same model many times side by side, none of them leading to another.
Problem copies(const Problem& problem) {
  ModelArrays a = problem.model().arrays();
  const ModelArrays one = a;
  const auto append = [](auto& all, const auto& values, auto offset) {
    for (const auto value : values) all.push_back(value + offset);
  };
  for (State copy = 1; copy < kCopies; ++copy) {
    append(a.next, one.next, copy * one.states);
    append(a.action, one.action, 0);
    append(a.probability, one.probability, 0.0);
    append(a.reward, one.reward, 0.0);
    a.state_rows.pop_back();
    append(a.state_rows, one.state_rows, copy * one.state_rows.back());
    a.row_outcomes.pop_back();
    append(a.row_outcomes, one.row_outcomes, copy * one.row_outcomes.back());
    for (std::size_t s = 0; s < one.signals.size(); ++s)
      append(a.signals[s].row, one.signals[s].row, 0.0);
  }
  a.states *= kCopies;
  return Problem(Model(std::move(a)), problem.terms());
}

class LargeLayers : public ::testing::TestWithParam<const char*> {};

TEST_P(LargeLayers, GiveTheSameBits) {
  const Problem small = make(std::string("garnet(states=20,actions=2,successors=3,horizon=2,"
                                         "start=0,bound=10,radius=0.1,set=") +
                             GetParam() + ")");
  const Problem large = copies(small);
  ASSERT_TRUE(small.model().arrays().outcome_reward.empty());
  ASSERT_TRUE(is_far_away(std::vector<double>(std::size_t{2} * large.model().states() * kCells)));
  const RcviOptions options{.budget_cells = kCells};
  const Solution one = rcvi(small, options);
  for (const testing::Configuration configuration : {testing::Configuration{1, 2}, {2, 1}}) {
    const auto parts = testing::solve_on_ranks(
        large, configuration,
        [&](const Problem& part, const Execution& e) { return rcvi(part, options, e); });
    EXPECT_EQ(parts.front().reward, one.reward);
    EXPECT_EQ(parts.front().constraints, one.constraints);
    const Policy policy = testing::join_policies(parts);
    for (std::size_t h = 0; h < one.policy.stages.size(); ++h) {
      const auto& expected = one.policy.stages[h].mixed;
      const auto& found = policy.stages[h].mixed;
      ASSERT_EQ(found.size(), kCopies * expected.size());
      for (std::size_t n = 0; n < found.size(); ++n)
        ASSERT_EQ(found[n], expected[n % expected.size()]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, LargeLayers, ::testing::Values("tv", "chi2"));

}  // namespace
}  // namespace redoubt
