#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "redoubt/evaluate.h"
#include "redoubt/verify.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

// Policies with memory that go on for ever are evaluated with nature's answers kept for a while;
// `verify` knows nothing of that.
TEST(KeptNature, AgreesWithPlainSweeps) {
  int seed = 0;
  for (const Uncertainty& set : testing::kEverySet) {
    for (const double discount : {0.5, 0.95, 0.99}) {
      ++seed;
      testing::RandomOptions options;
      options.uncertainty = set;
      options.horizon.reset();
      options.discount = discount;
      options.states = 4;
      options.constraints = options.signals = 2;
      options.random_start = options.outcome_values = seed % 2 == 0;
      options.arrivals = options.terminal = options.ragged = seed % 3 == 0;
      const Problem problem = testing::random_problem(seed, options);
      const Policy policy = testing::random_table_policy(seed, problem);
      SCOPED_TRACE(fmt::format("set {}, discount {}", set.index(), discount));
      const Evaluation fast = evaluate(problem, policy), plain = verify(problem, policy);
      EXPECT_NEAR(fast.reward.worst, plain.reward.worst, 1e-9 * std::abs(plain.reward.worst));
      for (std::size_t c = 0; c < fast.constraints.size(); ++c) {
        const double worst = plain.constraints[c].worst;
        EXPECT_NEAR(fast.constraints[c].worst, worst, 1e-9 * std::abs(worst)) << c;
      }
    }
  }
}

}  // namespace
}  // namespace redoubt
