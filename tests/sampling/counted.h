#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "redoubt/simulator.h"
#include "sampling/row_counts.h"

namespace redoubt::testing {

// Rows that were counted from a model itself, so that its rows are within their intervals.
struct Counted {
  Problem problem;
  std::unique_ptr<Simulator> simulator;
  internal::RowCounts counts;

  Counted(Problem given, int samples)
      : problem(std::move(given)),
        simulator(problem_simulator(problem)),
        counts(simulator->shape()) {
    const Model& model = problem.model();
    for (Row row = 0; row < model.rows(); ++row) {
      const auto& outcomes = simulator->shape().outcomes[row];
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const double p =
            model.arrays().probability[model.outcome_begin(row) + static_cast<std::int64_t>(i)];
        const auto count = static_cast<std::int64_t>(std::lround(p * samples));
        counts.add(row,
                   {outcomes[i].next,
                    outcomes[i].values[0],
                    {outcomes[i].values.begin() + 1, outcomes[i].values.end()}},
                   count);
      }
    }
  }
};

}  // namespace redoubt::testing
