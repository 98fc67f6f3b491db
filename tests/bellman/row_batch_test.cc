#include "bellman/row_batch.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

std::vector<double> random_values(State states, std::uint64_t seed) {
  std::vector<double> values(states);
  for (State s = 0; s < states; ++s)
    values[s] =
        static_cast<double>((static_cast<std::uint64_t>(s) + 7) * (seed + 3) * 2654435761u % 1000) /
        100.0;
  return values;
}

// One row after the other, each alone in its lanes.
double alone(const Problem& problem, Row row, const Channel& channel,
             const std::vector<double>& values, double floor, std::vector<double>& distribution) {
  RowEvaluator rows(problem);
  const Model& model = problem.model();
  const int outcomes = static_cast<int>(model.outcome_end(row) - model.outcome_begin(row));
  std::vector<const double*> next;
  for (int i = 0; i < outcomes; ++i) {
    double* buffer = rows.buffer(i, 1);
    std::fill_n(buffer, kLaneBlock, values[model.arrays().next[model.outcome_begin(row) + i]]);
    next.push_back(buffer);
  }
  std::vector<double> floors(kLaneBlock, floor), result(kLaneBlock),
      minimiser((outcomes + 1) * kLaneBlock);
  rows.worst(row, {&channel, 1}, 1, next.data(), rows.needs_floor() ? floors.data() : nullptr,
             result.data(), minimiser.data());
  distribution.clear();
  for (int i = 0; i <= outcomes; ++i) distribution.push_back(minimiser[i * kLaneBlock]);
  return result[0];
}

class Batches : public ::testing::TestWithParam<std::size_t> {};

// Rows of all lengths, in any order, with values of outcomes and radii of their own.
TEST_P(Batches, HaveTheRowsAsTheyAreAlone) {
  testing::RandomOptions options;
  options.states = 90;
  options.successors = 9;
  options.ragged = options.terminal = options.row_radii = true;
  options.horizon.reset();
  options.discount = 0.9;
  options.uncertainty = testing::kEverySet[GetParam()];
  for (const bool outcome_values : {false, true}) {
    options.outcome_values =
        outcome_values;  // outcomes that share a state make rows of all lengths
    const Problem problem = testing::random_problem(5, options);
    const Model& model = problem.model();
    const std::vector<double> values = random_values(model.states(), GetParam());
    const double floor = *std::min_element(values.begin(), values.end());
    std::vector<Row> rows(model.rows());
    std::iota(rows.rbegin(), rows.rend(), 0);
    RowBatch batch(problem);
    const int outside = batch.needs_floor() ? 1 : 0;
    std::vector<std::int64_t> begin = {0};
    for (const Row row : rows)
      begin.push_back(begin.back() + model.outcome_end(row) - model.outcome_begin(row) + outside);
    std::vector<double> result(rows.size()), distributions(begin.back());
    for (const Channel& channel : {Channel{}, channel_of(problem, 0)}) {
      const RowBatch::Distributions to{begin.data(), distributions.data()};
      batch.worst(rows, channel, values.data(), floor, result.data(), &to);
      std::vector<double> without(rows.size());
      batch.worst(rows, channel, values.data(), floor, without.data());
      for (std::size_t n = 0; n < rows.size(); ++n) {
        std::vector<double> distribution;
        const double expected = alone(problem, rows[n], channel, values, floor, distribution);
        ASSERT_NEAR(result[n], expected, 1e-11) << "row " << rows[n];
        ASSERT_NEAR(without[n], expected, 1e-11) << "row " << rows[n];
        for (auto i = begin[n]; i < begin[n + 1]; ++i)
          ASSERT_NEAR(distributions[i], distribution[i - begin[n]], 1e-6) << "row " << rows[n];
      }
    }
    EXPECT_EQ(batch.evaluations(), 4.0 * static_cast<double>(rows.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Batches, ::testing::Range<std::size_t>(0, 7));

}  // namespace
}  // namespace redoubt
