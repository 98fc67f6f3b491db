#include "redoubt/evaluate.h"

#include <gtest/gtest.h>

#include "redoubt/verify.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::expect_same;

constexpr double kAgreement = 1e-9;

// Any policy on any problem: the fast evaluation against the slow one.
class AnyProblem : public ::testing::TestWithParam<int> {
 protected:
  static Problem problem(std::uint64_t seed) {
    return testing::random_problem(seed, testing::random_options(seed));
  }
  static constexpr int kEach = 25;
};

TEST_P(AnyProblem, MarkovPolicy) {
  for (int i = 0; i < kEach; ++i) {
    const std::uint64_t seed = GetParam() * kEach + i;
    SCOPED_TRACE(seed);
    const Problem p = problem(seed);
    const Policy policy = testing::random_markov_policy(seed, p);
    expect_same(evaluate(p, policy), verify(p, policy), kAgreement);
  }
}

TEST_P(AnyProblem, TablePolicy) {
  for (int i = 0; i < kEach; ++i) {
    const std::uint64_t seed = GetParam() * kEach + i;
    SCOPED_TRACE(seed);
    const Problem p = problem(seed);
    const Policy policy = testing::random_table_policy(seed, p);
    expect_same(evaluate(p, policy), verify(p, policy), kAgreement);
  }
}

TEST_P(AnyProblem, BudgetPolicy) {
  for (int i = 0; i < kEach; ++i) {
    const std::uint64_t seed = GetParam() * kEach + i;
    SCOPED_TRACE(seed);
    const Problem p = problem(seed);
    for (const Rounding rounding : {Rounding::up, Rounding::mixed}) {
      const Policy policy = testing::random_budget_policy(seed, p, rounding);
      expect_same(evaluate(p, policy), verify(p, policy), kAgreement);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyProblem, ::testing::Range(0, 8));

}  // namespace
}  // namespace redoubt
