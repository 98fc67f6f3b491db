#include "redoubt/worst_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/random_policy.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

double sum_of(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

// The model in which the kernel of one stage of a policy without memory is the nominal one, with
// landings as outcomes of their own. Stage-dependent, because nature is.
Problem frozen(const Problem& problem, const MarkovKernel& kernel) {
  const Model& model = problem.model();
  std::vector<std::string> signals;
  for (const Signal& signal : model.arrays().signals) signals.push_back(signal.name);
  ModelBuilder builder(model.states(), signals, problem.horizon());
  for (int h = 0; h < problem.horizon(); ++h) {
    for (State s = 0; s < model.states(); ++s) {
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        ModelBuilder::RowData data{model.value(-1, row), {}, {}};
        for (int k = 0; k < model.signals(); ++k) data.signals.push_back(model.value(k, row));
        for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
          ModelBuilder::Outcome outcome{model.arrays().next[i], kernel.probability[h][i],
                                        model.outcome_value(-1, i)};
          for (int k = 0; k < model.signals(); ++k)
            outcome.signals.push_back(model.outcome_value(k, i));
          data.outcomes.push_back(outcome);
        }
        if (kernel.landing[h][row] > 0) {
          const State to = kernel.landing_state[h][row];
          ModelBuilder::Outcome landed{to, kernel.landing[h][row], model.arrival_value(-1, to)};
          for (int k = 0; k < model.signals(); ++k)
            landed.signals.push_back(model.arrival_value(k, to));
          data.outcomes.push_back(landed);
        }
        builder.add(h, s, model.arrays().action[row], data);
      }
    }
  }
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  return Problem(builder.build(), terms);
}

TEST(WorstKernel, PlayingItGivesTheWorstCase) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomOptions o = testing::random_options(seed);
    o.horizon = 1 + static_cast<int>(seed % 4);
    const Problem problem = testing::random_problem(seed, o);
    const Policy policy = testing::random_markov_policy(seed, problem);
    const Evaluation worst = evaluate(problem, policy);
    const auto kernel = worst_kernel(problem, policy, nature_of(problem, "worst-reward"));
    const double tolerance = 1e-8;  // minimisers attain the value to a little less than the value
    EXPECT_NEAR(evaluate(frozen(problem, kernel), policy).reward.worst, worst.reward.worst,
                tolerance);
    for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
      const auto against = worst_kernel(problem, policy, {Nature::Against::constraint, c});
      EXPECT_NEAR(evaluate(frozen(problem, against), policy).constraints[c].worst,
                  worst.constraints[c].worst, tolerance);
    }
  }
}

TEST(WorstKernel, IsADistributionWithTheWorstCaseAsItsValue) {
  const Problem problem = make("river_swim(horizon=10,start=3)");
  const Policy policy = rcvi(problem).policy;
  WorstKernel kernel(problem, policy, nature_of(problem, "worst-cost"));
  double value = 0;
  const auto& here = policy.at(0);
  for_each_choice(here, here.begin(3) + policy.start_memory, [&](std::int32_t action, double w) {
    const RowDistribution& chosen = kernel.at(0, 3, policy.start_memory, action);
    EXPECT_NEAR(sum_of(chosen.probability), 1, 1e-12);
    EXPECT_EQ(chosen.landing, 0);
    value += w * chosen.value;
  });
  EXPECT_NEAR(-value, evaluate(problem, policy).constraints[0].worst, 1e-9);
}

TEST(WorstKernel, NominalNatureIsTheModel) {
  const Problem problem = make("river_swim(horizon=4,start=3)");
  const auto kernel = worst_kernel(problem, robust(problem).policy, nature_of(problem, "nominal"));
  ASSERT_EQ(kernel.probability.size(), 4u);
  EXPECT_EQ(kernel.probability[2], problem.model().arrays().probability);
}

TEST(WorstKernel, OneStageForAStationaryPolicy) {
  const Problem problem = make("river_swim");
  const auto kernel = worst_kernel(problem, robust(problem).policy, {Nature::Against::reward});
  EXPECT_EQ(kernel.probability.size(), 1u);
  EXPECT_NE(kernel.probability[0], problem.model().arrays().probability);
}

TEST(WorstKernel, SaysWhatIsWrong) {
  const Problem problem = make("river_swim(horizon=10,start=3)");
  const Policy budgets = rcvi(problem).policy;
  EXPECT_THAT(error_of([&] { worst_kernel(problem, budgets, {}); }),
              HasSubstr("memory states, must have one"));
  const Problem two = testing::random_problem(5, {.actions = 2});
  Policy table = testing::random_table_policy(5, two);
  table.stages[0].choice_weight.assign(table.stages[0].choice_weight.size(), 0);  // only the first
  for (const auto first : table.stages[0].choice_begin) {
    if (first < static_cast<std::int64_t>(table.stages[0].choice_weight.size()))
      table.stages[0].choice_weight[first] = 1;
  }
  WorstKernel kernel(two, table, {Nature::Against::reward});
  EXPECT_THAT(error_of([&] {
                for (std::int32_t a = 0; a < 2; ++a) kernel.at(0, 0, 0, a);
              }),
              HasSubstr("the policy never takes this action there"));
}

}  // namespace
}  // namespace redoubt
