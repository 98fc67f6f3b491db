#include "policy/mixture.h"

#include <gtest/gtest.h>

#include "redoubt/evaluate.h"
#include "redoubt/verify.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::random_markov_policy;
using testing::random_problem;
using testing::RandomOptions;

// Nature sees which policy was drawn, so a mixture has what its policies have, on average; against
// every set, wherever it may land, and for ever.
TEST(Mixture, HasTheTotalsOfItsPoliciesOnAverage) {
  const std::vector<double> weights = {0.25, 0, 0.75};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomOptions options = testing::shaped({}, seed % 16);
    options.uncertainty = testing::kEverySet[seed % testing::kEverySet.size()];
    if (seed % 5 == 4)
      options.horizon.reset(), options.discount = 0.7, options.stage_dependent = false;
    const Problem problem = random_problem(seed, options);
    std::vector<Policy> policies;
    for (std::uint64_t n = 0; n < weights.size(); ++n)
      policies.push_back(random_markov_policy(10 * seed + n, problem));
    const Policy mixture = mixture_of(problem, policies, weights);
    check_policy(problem, mixture);
    const Evaluation evaluated = evaluate(problem, mixture);
    double reward = 0, signal = 0;
    for (std::size_t n = 0; n < weights.size(); ++n) {
      const Evaluation alone = evaluate(problem, policies[n]);
      reward += weights[n] * alone.reward.worst;
      signal += weights[n] * alone.constraints[0].worst;
    }
    EXPECT_NEAR(evaluated.reward.worst, reward, 1e-10);
    EXPECT_NEAR(evaluated.constraints[0].worst, signal, 1e-10);
    testing::expect_same(evaluated, verify(problem, mixture), 1e-9);
  }
}

}  // namespace
}  // namespace redoubt
