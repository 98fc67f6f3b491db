#include <gtest/gtest.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/estimate.h"
#include "support/expect_error.h"
#include "support/patience.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

double radius_of(const Problem& problem, Row row) {
  return std::visit(
      [row](const auto& set) {
        if constexpr (requires { set.radius; }) return set.radius.of(row);
        return 0.0;
      },
      problem.uncertainty());
}

double probability_of(const Model& model, Row row, State state) {
  double sum = 0;
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
    sum += model.arrays().next[i] == state ? model.arrays().probability[i] : 0.0;
  return sum;
}

// The set's own distance of the true row from the centre.
double distance(const Problem& found, const Model& truth, Row row) {
  double sum = 0;
  for (State state = 0; state < truth.states(); ++state) {
    const double p = probability_of(truth, row, state);
    const double q = probability_of(found.model(), row, state);
    if (std::holds_alternative<TV>(found.uncertainty())) sum += std::abs(p - q) / 2;
    if (std::holds_alternative<Chi2>(found.uncertainty())) sum += (p - q) * (p - q) / q;
    if (std::holds_alternative<KL>(found.uncertainty())) sum += p > 0 ? p * std::log(p / q) : 0;
  }
  return sum;
}

TEST(Confidence, SetsHoldTheTrueRowsAsOftenAsPromised) {
  const Problem truth = make("garnet(states=5,actions=2,successors=3,seed=1,horizon=5)");
  constexpr double delta = 0.1;
  constexpr int runs = testing::cases(400);
  for (const Uncertainty& set : {Uncertainty(TV{}), Uncertainty(Chi2{}), Uncertainty(KL{})}) {
    for (const std::int64_t samples : {5, 1000}) {
      int misses = 0;
      double radii = 0;
      for (int run = 0; run < runs; ++run) {
        const auto simulator = problem_simulator(truth);
        const Estimate found =
            estimate(*simulator, {.samples = samples, .seed = static_cast<std::uint64_t>(run)});
        Terms terms = truth.terms();
        terms.uncertainty = set;
        const Problem problem = confident_problem(found, terms, delta);
        bool inside = true;
        for (Row row = 0; row < truth.model().rows(); ++row) {
          inside &= distance(problem, truth.model(), row) <= radius_of(problem, row) + 1e-12;
          radii += radius_of(problem, row);
        }
        misses += inside ? 0 : 1;
      }
      EXPECT_LE(misses, delta * runs) << name(set) << " " << samples;
      // Not for nothing: with samples, the sets are small.
      if (samples == 1000) {
        EXPECT_LT(radii / runs / static_cast<double>(truth.model().rows()), 0.2) << name(set);
      }
    }
  }
}

TEST(Confidence, RadiiFollowTheirFormulas) {
  const Estimate found =
      read_recorded("state,action,next\n0,0,0\n0,0,0\n0,0,1\n0,0,0\n1,0,1\n1,0,1\n1,0,1\n1,0,1\n",
                    "log.csv", {.objective = {.none = true}});
  Terms terms;
  terms.horizon = 2;
  terms.uncertainty = TV{};
  const Problem tv = confident_problem(found, terms, 0.1);
  EXPECT_NEAR(radius_of(tv, 0), std::sqrt(std::log(2 * 2 / 0.1) / 8), 1e-12);  // 2^2 - 2 = 2
  EXPECT_EQ(tv.model(), found.model);
  terms.uncertainty = KL{};
  const Problem kl = confident_problem(found, terms, 0.1);
  EXPECT_NEAR(probability_of(kl.model(), 0, 0), 4.0 / 6, 1e-15);
  EXPECT_NEAR(probability_of(kl.model(), 1, 0), 1.0 / 6, 1e-15);
  // Row 1 saw nothing but state 1: at most 1 - exp(-L / n) of the mass may be elsewhere.
  const double limit = std::log(2 * 2 * 2 / 0.1) / 4, u = -std::expm1(-limit);
  const double expected = u * std::log(u * 6) - u + 1.0 / 6 +
                          std::max(1.0 * std::log(6.0 / 5) - 1 + 5.0 / 6,
                                   (1 - u) * std::log((1 - u) * 6 / 5) - (1 - u) + 5.0 / 6);
  EXPECT_NEAR(radius_of(kl, 1), expected, 1e-12);
}

TEST(Confidence, MoreSamplesGiveSmallerSets) {
  const Problem truth = make("river_swim(horizon=5)");
  for (const Uncertainty& set : {Uncertainty(TV{}), Uncertainty(Chi2{}), Uncertainty(KL{})}) {
    double last = HUGE_VAL;
    for (const std::int64_t samples : {10, 100, 1000, 10'000}) {
      const auto simulator = problem_simulator(truth);
      Terms terms = truth.terms();
      terms.uncertainty = set;
      const Problem problem =
          confident_problem(estimate(*simulator, {.samples = samples}), terms, 0.05);
      EXPECT_LT(radius_of(problem, 3), last);
      last = radius_of(problem, 3);
    }
  }
}

TEST(Confidence, RefusesWhatItCannotPromise) {
  Terms terms;
  terms.horizon = 2;
  const auto error = [&](const std::string& text, const Uncertainty& set, double delta = 0.1) {
    const Estimate found = read_recorded(text, "log.csv");
    terms.uncertainty = set;
    return error_of([&] { confident_problem(found, terms, delta); });
  };
  const std::string fixed = "state,action,next,reward\n0,0,0,0\n";
  EXPECT_EQ(error(fixed, KL{}, 0), "delta = 0, must be in (0, 1)");
  EXPECT_EQ(error(fixed, Nominal{}), "set none has no radius from data, must be tv, chi2 or kl");
  EXPECT_THAT(error(fixed, TV{0.0, Reach::support}), HasSubstr("must be anywhere"));
  EXPECT_THAT(error("state,action,next,reward\n0,0,0,1\n0,0,0,2\n", KL{}),
              HasSubstr("reward of (state 0, action 0) varies from sample to sample"));
}

// Nothing is known of a row that was never sampled: all mass may be on any of its outcomes.
TEST(Confidence, RowsWithoutSamplesMayBeAnything) {
  std::string log = "state,action,next\n0,1,0\n1,1,0\n";
  for (int n = 0; n < 1000; ++n) log += "0,0," + std::to_string(n % 2) + "\n";
  const Estimate found =
      read_recorded(log, "log.csv", {.unvisited = Unvisited::simplex, .objective = {.none = true}});
  ASSERT_EQ(found.unvisited, std::vector<Row>{2});  // state 1, action 0
  for (const Uncertainty& set : {Uncertainty(TV{}), Uncertainty(Chi2{}), Uncertainty(KL{})}) {
    Terms terms{.horizon = 1};
    terms.uncertainty = set;
    const Problem problem = confident_problem(found, terms, 0.1);
    for (const State state : {0, 1}) {
      const double p = probability_of(problem.model(), 2, state);
      const double all_there = std::holds_alternative<TV>(set)     ? 1 - p
                               : std::holds_alternative<Chi2>(set) ? 1 / p - 1
                                                                   : -std::log(p);
      EXPECT_GE(radius_of(problem, 2), all_there) << name(set);
    }
    EXPECT_LT(radius_of(problem, 0), 0.1) << name(set);
  }
}

}  // namespace
}  // namespace redoubt
