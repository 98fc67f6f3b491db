#include "redoubt/samples.h"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/philox.h"
#include "redoubt/environments.h"
#include "redoubt/estimate.h"
#include "redoubt/evaluate.h"
#include "sampling/deviation.h"
#include "sets/reference.h"
#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;
using ::testing::HasSubstr;

Problem with_set(const Problem& problem, const Uncertainty& set) {
  Terms terms = problem.terms();
  terms.uncertainty = set;
  return problem.with(terms);
}

const std::vector<Uncertainty> kSets = {Nominal{},  TV{0.1},  TV{0.1, Reach::support},
                                        Chi2{0.2},  KL{0.05}, Chi2{3.0},
                                        KL{0.0001}, KL{2.0}};

TEST(Samples, TotalVariationHasAClosedForm) {
  const Problem problem = make("river_swim(horizon=10,set=tv,radius=0.1)");
  // 8 of 12 rows have 3 outcomes, 4 have 2; rewards span 1, costs 0.9; 9 + 8 + ... + 0 = 45.
  const double events = 8 * 6 + 4 * 2, deviation = 0.1 / (2 * 45);
  const SampleSize size = samples_needed(problem, 0.1, 0.05);
  EXPECT_EQ(size.per_row, std::ceil(std::log(events / 0.05) / (2 * deviation * deviation)));
  EXPECT_EQ(size.total, 12.0 * static_cast<double>(size.per_row));
  EXPECT_LE(size.reward_error, 0.1);
  ASSERT_EQ(size.violation.size(), 1U);
  EXPECT_NEAR(size.violation[0], 0.9 * size.reward_error, 1e-12);
  EXPECT_NEAR(size.slack[0], size.violation[0] / 2, 1e-15);
  const double stage = 0.1 / 20;
  EXPECT_EQ(size.lemma_per_row, std::ceil(100 * std::log(40 * 3 * 12 * 10 / 0.05 / (stage / 4)) /
                                          (2 * stage * stage / 4)));
  EXPECT_NEAR(*size.theorem_total, 12 * 1e5 / 0.01 * std::log(48 * 12 * 1e3 / 0.005), 1);
}

TEST(Samples, TheNumberIsTheSmallestThatIsEnough) {
  for (const Uncertainty& set : kSets) {
    const Problem problem = with_set(make("river_swim(horizon=6)"), set);
    for (const double epsilon : {0.01, 0.3}) {
      const SampleSize size = samples_needed(problem, epsilon, 0.1);
      EXPECT_LE(size.epsilon, epsilon);
      EXPECT_LE(samples_buy(problem, size.per_row, 0.1).epsilon, epsilon);
      EXPECT_GT(samples_buy(problem, size.per_row - 1, 0.1).epsilon, epsilon) << name(set);
    }
  }
}

TEST(Samples, BoundsAreMonotone) {
  for (const Uncertainty& set : kSets) {
    const Problem problem = with_set(make("river_swim(horizon=6)"), set);
    double last = HUGE_VAL;
    for (std::int64_t n = 1; n < 100'000'000; n *= 3) {
      const double epsilon = samples_buy(problem, n, 0.1).epsilon;
      EXPECT_LE(epsilon, last) << name(set) << " " << n;
      last = epsilon;
    }
    const auto needed = [&](const Problem& p, double epsilon, double delta) {
      return samples_needed(p, epsilon, delta).per_row;
    };
    EXPECT_GT(needed(problem, 0.1, 0.1), needed(problem, 0.2, 0.1));
    EXPECT_GT(needed(problem, 0.1, 0.01), needed(problem, 0.1, 0.1));
    EXPECT_GT(needed(with_set(make("river_swim(horizon=7)"), set), 0.1, 0.1),
              needed(problem, 0.1, 0.1));
  }
}

TEST(Samples, Edges) {
  for (const Uncertainty& set : kSets) {
    // One decision with known pay, or none at all: one sample of each row tells everything.
    EXPECT_EQ(samples_needed(with_set(make("river_swim(horizon=1)"), set), 1e-9, 0.1).per_row, 1);
    EXPECT_EQ(samples_needed(with_set(make("river_swim(horizon=0)"), set), 1e-9, 0.1).per_row, 1);
  }
  const Problem swim = make("river_swim(horizon=5)");
  const auto nominal = samples_needed(with_set(swim, Nominal{}), 0.1, 0.1);
  EXPECT_FALSE(nominal.lemma_per_row);
  for (const Uncertainty& set : {Uncertainty(TV{0.0}), Uncertainty(TV{0.0, Reach::support}),
                                 Uncertainty(Chi2{0.0}), Uncertainty(KL{0.0})}) {
    EXPECT_EQ(samples_needed(with_set(swim, set), 0.1, 0.1).per_row, nominal.per_row);
  }
  const Problem endless = make("river_swim(horizon=infinite,discount=0.9,set=tv,radius=0.1)");
  Terms long_terms = endless.terms();
  long_terms.horizon = 1000;
  EXPECT_NEAR(samples_buy(endless, 1'000'000, 0.1).epsilon,
              samples_buy(endless.with(long_terms), 1'000'000, 0.1).epsilon, 1e-9);
  EXPECT_EQ(error_of([&] { samples_needed(swim, 0, 0.1); }),
            "epsilon = 0, must be positive and finite");
  EXPECT_EQ(error_of([&] { samples_needed(swim, 0.1, 1); }), "delta = 1, must be in (0, 1)");
  EXPECT_EQ(error_of([&] { samples_buy(swim, 0, 0.1); }), "samples = 0, must be at least 1");
  EXPECT_EQ(error_of([&] { samples_needed(with_set(swim, Tilt{1}), 0.1, 0.1); }),
            "set tilt has no sample size, must be tv, chi2, kl or none");
}

TEST(Samples, RandomPayAndChanceConstraintsCount) {
  testing::RandomOptions options;
  options.outcome_values = true;
  options.horizon = 1;
  EXPECT_GT(samples_needed(testing::random_problem(1, options), 0.1, 0.1).per_row, 1);
  Terms terms = make("river_swim(horizon=5,set=tv,radius=0.1)").terms();
  terms.constraints[0].probability = 0.9;
  const Problem chance = make("river_swim(horizon=5,set=tv,radius=0.1)").with(terms);
  const SampleSize size = samples_buy(chance, 1000, 0.1);
  EXPECT_NEAR(size.violation[0] / size.reward_error, 4.0 / 10, 1e-12);  // 4 stages; 4 + 3 + 2 + 1
}

// Worst cases of a row and of its estimate, against the inequality, by brute force.
TEST(Deviation, InequalitiesHoldForAnyRowAndValues) {
  RandomStream random(11);
  for (int round = 0; round < 3000; ++round) {
    const int k = 2 + static_cast<int>(random.below(4));
    std::vector<double> p(k), q(k), v(k);
    double sum = 0, estimated = 0;
    for (int i = 0; i < k; ++i) sum += p[i] = 0.02 + std::pow(random.uniform(), 3);
    for (double& x : p) x /= sum;
    const double noise = std::pow(10, -3 * random.uniform());
    for (int i = 0; i < k; ++i) estimated += q[i] = p[i] * std::exp(noise * random.normal());
    for (double& x : q) x /= estimated;
    double low = HUGE_VAL, high = -HUGE_VAL, tv = 0, entropy = 0, ratio = 0, least = 1;
    for (int i = 0; i < k; ++i) {
      v[i] = random.uniform();
      low = std::min(low, v[i]);
      high = std::max(high, v[i]);
      tv += std::abs(p[i] - q[i]) / 2;
      least = std::min(least, p[i]);
      entropy += q[i] * std::log(q[i] / p[i]);
      ratio = std::max(ratio, std::abs(std::log(q[i] / p[i])));
    }
    const double radius = std::pow(10, 2 - 5 * random.uniform());
    const auto difference = [&](const Uncertainty& set) {
      const auto worst = [&](const std::vector<double>& centre) {
        ReferenceRow row;
        row.probability.assign(centre.begin(), centre.end());
        row.value.assign(v.begin(), v.end());
        row.radius = radius;
        return reference_worst_case(set, row);
      };
      return static_cast<double>(std::abs(worst(p) - worst(q))) / (high - low);
    };
    const double slack = 1e-9;
    EXPECT_LE(difference(TV{radius}), tv + slack);
    EXPECT_LE(difference(Chi2{radius}), chi2_deviation(entropy, radius) + slack);
    EXPECT_LE(difference(KL{radius}), kl_deviation(ratio, entropy, least, radius) + slack);
  }
}

// The promise as a whole: the same policy on the estimated and on the true model.
TEST(Deviation, ErrorsOfPoliciesStayBelowTheBound) {
  for (const Uncertainty& set : kSets) {
    const Problem truth = with_set(make("river_swim(horizon=4)"), set);
    const std::vector<std::vector<double>> even(1, std::vector<double>(12, 0.5));
    const Policy policy = markov_policy(truth, even);
    const Evaluation real = evaluate(truth, policy);
    for (const std::int64_t samples : {50, 1000}) {
      const SampleSize bound = samples_buy(truth, samples, 0.1);
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto simulator = problem_simulator(truth);
        const Problem found = estimated_problem(
            estimate(*simulator, {.samples = samples, .seed = seed}), truth.terms());
        const Evaluation guess = evaluate(found, policy);
        EXPECT_LE(std::abs(guess.reward.worst - real.reward.worst), bound.reward_error / 2);
        EXPECT_LE(std::abs(guess.constraints[0].worst - real.constraints[0].worst), bound.slack[0]);
      }
    }
  }
}

}  // namespace
}  // namespace redoubt
