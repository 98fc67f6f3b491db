// Samples of rows that are mixtures of factors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "redoubt/estimate.h"
#include "redoubt/evaluate.h"
#include "redoubt/frontier.h"
#include "redoubt/learn.h"
#include "redoubt/verify.h"
#include "sampling/factor_intervals.h"
#include "sampling/mixture_counts.h"
#include "sampling/mixture_region.h"
#include "sampling/two_sides.h"
#include "support/expect_error.h"

namespace redoubt {
namespace {

using namespace internal;
using testing::error_of;

constexpr State kStates = 4, kFactors = 3;
constexpr int kActions = 2;

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

std::vector<double> distribution(std::mt19937_64& random, int count, double share_of_zeros = 0) {
  std::vector<double> p(count);
  for (double& x : p) x = uniform(random) < share_of_zeros ? 0 : -std::log(1 - uniform(random));
  p[random() % count] += 0.2;
  double sum = 0;
  for (const double x : p) sum += x;
  for (double& x : p) x /= sum;
  return p;
}

// Rows of the first states take one factor alone; those of the others mix all of them.
Model mixed_model(std::uint64_t seed, State alone) {
  std::mt19937_64 random(seed);
  ModelBuilder builder(kStates, {"cost"});
  std::vector<State> factors;
  for (State k = 0; k < kFactors; ++k) {
    std::vector<ModelBuilder::Outcome> outcomes;
    const auto p = distribution(random, kStates, 0.3);
    for (State s = 0; s < kStates; ++s)
      if (p[s] > 0) outcomes.push_back({.next = s, .probability = p[s]});
    factors.push_back(builder.factor(std::move(outcomes)));
  }
  for (State s = 0; s < kStates; ++s) {
    for (int a = 0; a < kActions; ++a) {
      ModelBuilder::RowData row{.reward = uniform(random), .signals = {uniform(random)}};
      const auto weights = distribution(random, kFactors);
      for (State k = 0; k < kFactors; ++k) {
        const double only = k == (s * kActions + a) % kFactors;
        row.outcomes.push_back({.next = factors[k], .probability = s < alone ? only : weights[k]});
      }
      std::erase_if(row.outcomes, [](const auto& outcome) { return outcome.probability == 0; });
      builder.add(0, s, a, std::move(row));
    }
  }
  return builder.build();
}

double true_probability(const Model& model, State factor, State next) {
  const Row row = model.row_begin(0, model.ordinary() + factor);
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
    if (model.arrays().next[i] == next) return model.arrays().probability[i];
  return 0;
}

// The same rows without factors, as a simulator of them sees them.
Problem written_out(const Model& model) {
  ModelBuilder builder(model.ordinary(), {"cost"});
  for (State s = 0; s < model.ordinary(); ++s) {
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
      ModelBuilder::RowData data{.reward = model.value(-1, row), .signals = {model.value(0, row)}};
      for (State next = 0; next < model.ordinary(); ++next) {
        double p = 0;
        for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
          p += model.arrays().probability[i] *
               true_probability(model, model.arrays().next[i] - model.ordinary(), next);
        if (p > 0) data.outcomes.push_back({.next = next, .probability = p});
      }
      builder.add(0, s, static_cast<std::int32_t>(row - model.row_begin(0, s)), std::move(data));
    }
  }
  return {builder.build(), {.horizon = 3}};
}

// A log in which every outcome was seen as often as its probability says.
Estimate exact_log(const Model& model, double draws) {
  const Problem problem = written_out(model);
  Estimate log{problem.model(), problem.terms(), {}, {}, {}, 0, 0};
  for (const double p : problem.model().arrays().probability)
    log.counts.push_back(std::llround(p * draws));
  for (Row row = 0; row < problem.model().rows(); ++row) {
    std::int64_t sum = 0;
    for (auto i = problem.model().outcome_begin(row); i < problem.model().outcome_end(row); ++i)
      sum += log.counts[i];
    log.visits.push_back(sum);
  }
  return log;
}

TEST(FactorEstimate, SharesOfPooledDrawsWhereRowsTakeOneFactorAlone) {
  const Model model = mixed_model(1, kStates);
  const auto simulator = problem_simulator(written_out(model));
  const Estimate rows = estimate(*simulator, {.samples = 500, .seed = 3});
  const Estimate found = estimate_factors(rows, model);
  ASSERT_EQ(found.model.factors(), kFactors);
  for (State k = 0; k < kFactors; ++k) {
    std::map<State, std::int64_t> counts;
    std::int64_t draws = 0;
    for (Row row = k; row < kStates * kActions; row += kFactors) {
      draws += rows.visits[row];
      for (auto i = rows.model.outcome_begin(row); i < rows.model.outcome_end(row); ++i)
        counts[rows.model.arrays().next[i]] += rows.counts[i];
    }
    const Row row = found.model.row_begin(0, kStates + k);
    EXPECT_EQ(found.visits[row], draws);
    for (auto i = found.model.outcome_begin(row); i < found.model.outcome_end(row); ++i) {
      const std::int64_t count = counts[found.model.arrays().next[i]];
      EXPECT_EQ(found.counts[i], count);
      EXPECT_NEAR(found.model.arrays().probability[i],
                  static_cast<double>(count) / static_cast<double>(draws), 1e-12);
    }
  }
}

TEST(FactorEstimate, FindsTheFactorsThatMixturesShow) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Model model = mixed_model(seed, 0);
    const Estimate found = estimate_factors(exact_log(model, 1e9), model);
    for (State k = 0; k < kFactors; ++k)
      for (State s = 0; s < kStates; ++s)
        EXPECT_NEAR(true_probability(found.model, k, s), true_probability(model, k, s), 1e-3);
  }
}

TEST(FactorEstimate, AnErrorWhereMixturesDoNotTellFactorsApart) {
  ModelBuilder builder(2, {});
  const State first = builder.factor({{.next = 0, .probability = 1}});
  const State second = builder.factor({{.next = 1, .probability = 1}});
  for (State s = 0; s < 2; ++s)
    builder.add(
        0, s, 0,
        {.outcomes = {{.next = first, .probability = 0.5}, {.next = second, .probability = 0.5}}});
  const Model features = builder.build();
  ModelBuilder plain(2, {});
  for (State s = 0; s < 2; ++s)
    plain.add(0, s, 0,
              {.outcomes = {{.next = 0, .probability = 0.5}, {.next = 1, .probability = 0.5}}});
  const auto simulator = problem_simulator({plain.build(), {.horizon = 2}});
  const Estimate rows = estimate(*simulator, {.samples = 100});
  EXPECT_EQ(error_of([&] { estimate_factors(rows, features); }),
            "samples of rows whose features have rank 1, must have rank 2, the number of factors: "
            "they do not tell the factors apart");
  // With a confidence that is no error: each of the two may be nearly anything.
  const Problem bounded = composed_factors(rows, features, {.horizon = 2}, 0.95);
  const ModelArrays& a = bounded.given().model.arrays();
  for (std::size_t i = a.next.size() - 4; i < a.next.size(); ++i) {
    EXPECT_LT(a.lower[i], 0.05);
    EXPECT_GT(a.upper[i], 0.95);
  }
}

// Against the mixture by sums over a fine grid, and the region's ends by a search over it.
TEST(MixtureRegion, HoldsTheExactRegionAndLittleMore) {
  constexpr int kGrid = 2000;
  for (const auto& [heads, evidence] : {std::pair{5.0, 6.0}, {60.0, 6.0}, {0.0, 9.0}}) {
    const std::vector<MixtureRegion::Coin> coins = {{{0.8, 0.2}, heads, 400 - heads},
                                                    {{0.3, 0.7}, 2 * heads, 300 - 2 * heads}};
    const auto log_likelihood = [&](double x, double y) {
      double sum = 0;
      for (const auto& coin : coins) {
        const double p = coin.weights[0] * x + coin.weights[1] * y;
        sum += (coin.heads > 0 ? coin.heads * std::log(p) : 0.0) + coin.tails * std::log1p(-p);
      }
      return sum;
    };
    std::vector<double> point(kGrid);
    for (int i = 0; i < kGrid; ++i) {
      const double angle = (i + 0.5) / kGrid * std::numbers::pi / 2;
      point[i] = std::sin(angle) * std::sin(angle);
    }
    double most = -INFINITY, sum = 0;
    for (const double x : point)
      for (const double y : point) most = std::max(most, log_likelihood(x, y));
    for (const double x : point)
      for (const double y : point) sum += std::exp(log_likelihood(x, y) - most);
    const double level = most + std::log(sum / kGrid / kGrid) - evidence;
    Range exact[2] = {{1, 0}, {1, 0}};
    for (const double x : point) {
      for (const double y : point) {
        if (log_likelihood(x, y) < level) continue;
        exact[0] = {std::min(exact[0].low, x), std::max(exact[0].high, x)};
        exact[1] = {std::min(exact[1].low, y), std::max(exact[1].high, y)};
      }
    }
    const std::vector<double> centre =
        heads > 0 ? std::vector<double>{std::max(heads / 400 * 0.6, 1e-3), 2.9 * heads / 300}
                  : std::vector<double>{0.5 / 701, 0.5 / 701};
    const MixtureRegion region(coins, centre, evidence);
    for (int k = 0; k < 2; ++k) {
      const Range range = region.interval(k);
      EXPECT_LE(range.low, exact[k].low + 1e-6);
      EXPECT_GE(range.high, exact[k].high - 1e-6);
      EXPECT_LE(range.high - range.low, 1.35 * (exact[k].high - exact[k].low) + 2e-3);
    }
  }
}

// Logs of rows that mix factors: all intervals hold at once in nearly all runs, and say something.
TEST(FactorIntervals, HoldTheTruthInNearlyAllRuns) {
  constexpr double kConfidence = 0.9;
  constexpr int kRuns = 100;
  int wrong = 0;
  double width = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const Model model = mixed_model(run, static_cast<State>(run % 3));
    const auto simulator = problem_simulator(written_out(model));
    const Estimate rows = estimate(*simulator, {.samples = 2000, .seed = run});
    const Problem bounded = composed_factors(rows, model, {.horizon = 2}, kConfidence);
    const Model& found = bounded.given().model;
    bool right = true;
    for (State k = 0; k < kFactors; ++k) {
      const Row row = found.row_begin(0, kStates + k);
      ASSERT_EQ(found.outcome_end(row) - found.outcome_begin(row), kStates);
      for (auto i = found.outcome_begin(row); i < found.outcome_end(row); ++i) {
        const double p = true_probability(model, k, found.arrays().next[i]);
        right &= found.arrays().lower[i] <= p && p <= found.arrays().upper[i];
        width += (found.arrays().upper[i] - found.arrays().lower[i]) / (kFactors * kStates * kRuns);
      }
    }
    wrong += !right;
  }
  EXPECT_LE(wrong, 0.1 * kRuns + 2.33 * std::sqrt(0.09 * kRuns));
  EXPECT_LT(width, 0.35);
}

TEST(FactorSimulator, AsksForRowsThatTakeAFactorAlone) {
  const Model model = mixed_model(2, 3);
  const auto simulator = factor_simulator(problem_simulator(written_out(model)), model);
  const Estimate found = estimate(*simulator, {.samples = 20000, .seed = 1});
  EXPECT_EQ(found.queries, 20000 * kFactors);
  for (State k = 0; k < kFactors; ++k)
    for (State s = 0; s < kStates; ++s)
      EXPECT_NEAR(true_probability(found.model, k, s), true_probability(model, k, s), 0.02);
  for (State s = 0; s < kStates; ++s)
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row)
      EXPECT_EQ(found.model.value(0, row), model.value(0, row));
  EXPECT_EQ(error_of([&] {
              const Model mixtures = mixed_model(2, 0);
              factor_simulator(problem_simulator(written_out(mixtures)), mixtures);
            }),
            "no row takes factor 0 alone, must be one: draws of a mixture do not say which factor "
            "they are of");
}

// What a simulator of factors says of rewards does not count.
TEST(FactorSimulator, MayAnswerForFactorsItself) {
  const Model model = mixed_model(2, 0);
  std::vector<State> asked;
  const auto simulator = factor_simulator(
      function_simulator(factored_shape(model),
                         [&](const Query& query) {
                           asked.push_back(query.state);
                           return Sample{static_cast<State>(query.seed % 2), 7, {}};
                         }),
      model);
  const Estimate found = estimate(*simulator, {.samples = 10});
  EXPECT_EQ(asked.size(), 10u * kFactors);
  EXPECT_EQ(*std::min_element(asked.begin(), asked.end()), kStates);
  EXPECT_EQ(found.model.factors(), kFactors);
}

Uncertainty set_of(std::uint64_t seed) {
  const std::vector<Uncertainty> sets = {Nominal{}, TV{0.1, Reach::support}, TV{0.1}, Chi2{0.1},
                                         KL{0.05}};
  return sets[seed % sets.size()];
}

// The sides hold what a search finds on the true model, and close.
TEST(TwoSidesOfFactors, EncloseTheTruth) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Terms terms{.horizon = 3, .uncertainty = set_of(seed)};
    if (seed >= 5) terms.constraints = {at_most("cost", 1.4)};
    const Problem problem(mixed_model(seed, static_cast<State>(seed % 3)), terms);
    const Solution truth = frontier(problem, {.tolerance = 1e-4});
    if (truth.status == Status::infeasible) continue;
    double width = INFINITY;
    for (const double samples : {100.0, 10000.0}) {
      SCOPED_TRACE(fmt::format("seed {}, {} samples", seed, samples));
      const auto simulator = problem_simulator(problem);
      const SimulatorShape& shape = simulator->shape();
      RowCounts counts(shape);
      for (Row row = kStates * kActions; row < shape.rows(); ++row)
        for (const auto& outcome : shape.outcomes[row])
          counts.add(
              row,
              {outcome.next, outcome.values[0], {outcome.values.begin() + 1, outcome.values.end()}},
              std::llround(samples * true_probability(problem.given().model,
                                                      static_cast<State>(row) - kStates * kActions,
                                                      outcome.next)));
      const KnownRows known(counts, 6);
      const Solution low = frontier(pessimistic_problem(known, terms));
      const Solution high = frontier(optimistic_problem(known, terms).problem);
      ASSERT_NE(high.status, Status::infeasible);
      EXPECT_GE(*high.reward.bound, truth.reward.worst - 1e-9);
      if (low.status != Status::certified && low.status != Status::feasible) continue;
      EXPECT_LE(low.reward.worst, *truth.reward.bound + 1e-9);
      EXPECT_LT(*high.reward.bound - low.reward.worst, width);
      width = *high.reward.bound - low.reward.worst;
    }
    EXPECT_LT(width, 0.35);
  }
}

// Every claim is checked on the true model. Every third run asks for rows that take a factor alone.
TEST(LearnFactors, IsRightAboutTheTruthInNearlyAllRuns) {
  int wrong = 0, certified = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const bool by_rows = seed % 3 == 0;
    Terms terms{.horizon = 3, .uncertainty = set_of(by_rows ? 2 : seed)};
    if (seed % 2 == 1) terms.constraints = {at_most("cost", 1.5)};
    const Model model = mixed_model(seed / 6, 3);
    const Problem problem(model, terms);
    const Solution truth = frontier(problem, {.tolerance = 1e-4});
    auto simulator = by_rows ? factor_simulator(problem_simulator(written_out(model)), model)
                             : problem_simulator(problem);
    const Learned learned = learn(
        *simulator, terms, {.epsilon = 0.4, .delta = 0.1, .most_samples = 40000, .seed = seed});
    const Solution& found = learned.solution;
    std::int64_t drawn = 0;
    for (Row row = kStates * kActions; row < kStates * kActions + kFactors; ++row)
      drawn += learned.samples[row];
    EXPECT_EQ(drawn, learned.rounds.back().samples);  // nothing is drawn of what is known
    bool right = true;
    if (truth.status != Status::infeasible)
      right =
          found.status != Status::infeasible && *found.reward.bound >= truth.reward.worst - 1e-9;
    if (found.status == Status::certified || found.status == Status::feasible) {
      const Evaluation real = evaluate(problem, found.policy);
      right = right && real.reward.worst >= found.reward.worst - 1e-9;
      for (std::size_t c = 0; c < terms.constraints.size(); ++c)
        right = right && real.constraints[c].worst <= 1.5 + 0.4 + 1e-9;
    }
    certified += found.status == Status::certified;
    wrong += !right;
  }
  EXPECT_LE(wrong, 7);  // at most .1: more than 7 of 30 would have probability 1 %
  EXPECT_GE(certified, 20);
}

TEST(LearnFactors, TheProblemItselfIsAskedForFactorsOnly) {
  const Terms terms{.horizon = 3, .constraints = {at_most("cost", 1.6)}, .uncertainty = KL{0.05}};
  const Problem problem(mixed_model(4, 0), terms);
  const auto simulator = problem_simulator(problem);
  EXPECT_EQ(simulator->shape().terms.horizon, 3);
  const Learned learned = learn(*simulator, simulator->shape().terms, {.epsilon = 0.5});
  EXPECT_EQ(learned.problem.given().terms.horizon, 3);
  EXPECT_EQ(learned.problem.given().model.factors(), kFactors);
  for (Row row = 0; row < kStates * kActions; ++row) EXPECT_EQ(learned.samples[row], 0);
  if (learned.solution.status == Status::certified || learned.solution.status == Status::feasible) {
    const Evaluation real = evaluate(problem, learned.solution.policy);
    EXPECT_GE(real.reward.worst, learned.solution.reward.worst - 1e-9);
    EXPECT_LE(real.constraints[0].worst, learned.solution.constraints[0].worst + 1e-9);
    const Evaluation slow = verify(learned.problem, learned.solution.policy);
    EXPECT_NEAR(slow.reward.worst, learned.solution.reward.worst, 1e-9);
  }
}

}  // namespace
}  // namespace redoubt
