#include "sampling/optimistic_factors.h"

#include "model/select_rows.h"

namespace redoubt::internal {
namespace {

// The model with factors, each with all its outcomes equally likely, so that none is left out.
Problem with_all_outcomes(const SimulatorShape& shape, const Terms& terms) {
  ModelArrays a;
  a.states = shape.states;
  a.stages = shape.stages;
  a.factors = shape.factors;
  a.state_rows = shape.state_rows;
  a.action = shape.action;
  a.row_outcomes.push_back(0);
  for (Row row = 0; row < shape.rows(); ++row) {
    const auto& outcomes = shape.outcomes[row];
    for (const SimulatorShape::Outcome& outcome : outcomes) a.next.push_back(outcome.next);
    const std::vector<double> alike(outcomes.size(), 1.0 / static_cast<double>(outcomes.size()));
    const auto& weights = shape.asks(row) ? alike : shape.weights[row];
    a.probability.insert(a.probability.end(), weights.begin(), weights.end());
    a.row_outcomes.push_back(static_cast<std::int64_t>(a.next.size()));
  }
  for (std::size_t q = 0; q < shape.known.size(); ++q) {
    Signal earned{q == 0 ? "" : shape.signals[q - 1], shape.known[q].row, {}};
    earned.row.resize(shape.rows(), 0.0);
    for (Row row = 0; row < shape.rows(); ++row)
      for (const SimulatorShape::Outcome& outcome : shape.outcomes[row])
        earned.outcome.push_back(outcome.values[q] - earned.row[row]);
    if (q > 0) {
      a.signals.push_back(std::move(earned));
    } else {
      a.reward = std::move(earned.row);
      a.outcome_reward = std::move(earned.outcome);
    }
  }
  return {Model(std::move(a)), terms};
}

// Each row as often as it has corners.
struct Corners {
  std::vector<std::vector<double>> probability;  // of each corner
  std::vector<Row> origin;                       // its row
  std::vector<std::int32_t> action;
  std::vector<Row> state_rows = {0};
};

Corners corners_of(const KnownRows& known, const ModelArrays& a) {
  Corners corners;
  for (std::size_t slot = 0; slot + 1 < a.state_rows.size(); ++slot) {
    std::int32_t picked = 0;
    for (Row row = a.state_rows[slot]; row < a.state_rows[slot + 1]; ++row) {
      const bool asked = known.counts.shape().asks(row);
      const auto& weights = known.counts.shape().weights;
      for (const auto& corner : asked ? row_corners(known.intervals[row])
                                      : std::vector<std::vector<double>>{weights[row]}) {
        corners.probability.push_back(corner);
        corners.origin.push_back(row);
        corners.action.push_back(asked ? picked++ : a.action[row]);
      }
    }
    corners.state_rows.push_back(static_cast<Row>(corners.origin.size()));
  }
  return corners;
}

}  // namespace

// Rows of the problem with two stages for each decision are those of the model with factors, in the
// same order.
OptimisticProblem optimistic_factors(const KnownRows& known, const Terms& terms) {
  const Problem mixed = with_all_outcomes(known.counts.shape(), terms);
  const ModelArrays& a = mixed.model().arrays();
  Corners corners = corners_of(known, a);
  Ranges ranges;
  for (const Row row : corners.origin) ranges.emplace_back(row, row + 1);
  ModelArrays arrays = select_rows(a, ranges, a.states);
  arrays.state_rows = std::move(corners.state_rows);
  arrays.action = std::move(corners.action);
  arrays.probability.clear();
  for (const auto& corner : corners.probability)
    arrays.probability.insert(arrays.probability.end(), corner.begin(), corner.end());
  arrays.action_names.clear();
  Terms two_stages = mixed.terms();
  select_radii(two_stages, corners.origin);
  return {{Model(std::move(arrays)), std::move(two_stages)}, std::move(corners.origin)};
}

}  // namespace redoubt::internal
