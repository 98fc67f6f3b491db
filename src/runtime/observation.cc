#include "runtime/observation.h"

#include <algorithm>
#include <cmath>

#include "bellman/row_evaluator.h"
#include "model/row_name.h"
#include "support/require.h"

namespace redoubt::internal {

std::int32_t position_of(const Model& model, int stage, State state, std::int32_t action) {
  for (Row row = model.row_begin(stage, state); row < model.row_end(stage, state); ++row) {
    if (model.arrays().action[row] == action)
      return static_cast<std::int32_t>(row - model.row_begin(stage, state));
  }
  throw Error(
      fmt::format("action {}, state {} has no such action", action, model.state_name(state)));
}

void check_signals(const Model& model, const ObservedSignals& signals) {
  for (const auto& [name, value] : signals) {
    require(name == "reward" || model.signal_index(name) >= 0,
            "observed signal '{}', the model has no signal of that name", name);
    require(std::isfinite(value), "observed signal '{}' is {}, must be finite", name, value);
  }
}

Meaning meaning_of(const Problem& problem, Row row, State next, const ObservedSignals& signals) {
  constexpr double kSame = 1e-6;  // what values lose on their way through other programs
  const Model& model = problem.model();
  const auto begin = model.outcome_begin(row), end = model.outcome_end(row);
  std::vector<std::int64_t> found;
  for (auto i = begin; i < end; ++i) {
    if (model.arrays().next[i] == next) found.push_back(i - begin);
  }
  if (lands_anywhere(problem) && !model.lists(row, next)) found.push_back(end - begin);
  if (signals.empty() || found.empty()) return {std::move(found)};
  std::vector<double> distance;
  for (const std::int64_t outcome : found) {
    double& largest = distance.emplace_back(0.0);
    for (const auto& [name, value] : signals) {
      const int signal = model.signal_index(name);
      const double own = model.value(signal, row);
      const double modelled =
          own + (begin + outcome < end ? model.outcome_value(signal, begin + outcome)
                                       : model.arrival_value(signal, next));
      const double scale = std::max({1.0, std::abs(value), std::abs(modelled)});
      largest = std::max(largest, std::abs(value - modelled) / scale);
    }
  }
  const double least = *std::min_element(distance.begin(), distance.end());
  Meaning nearest{{}, least <= kSame};
  for (std::size_t n = 0; n < found.size(); ++n) {
    if (distance[n] <= std::max(least, kSame)) nearest.outcomes.push_back(found[n]);
  }
  return nearest;
}

void require_meaning(const Model& model, Row row, State next, const Meaning& meaning) {
  require(!meaning.outcomes.empty(), "next state {}, {} never leads there", model.state_name(next),
          RowName{model, row});
  require(meaning.exact, "observed signals of the step to state {}, no outcome of {} has them",
          model.state_name(next), RowName{model, row});
}

}  // namespace redoubt::internal
