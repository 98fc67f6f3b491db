#include "solvers/column_generation/weighted_sum.h"

#include <algorithm>

namespace redoubt::internal {

Signal weighted_signal(const Model& model, std::string name, std::span<const Channel> channels,
                       std::span<const double> weights) {
  const auto sum = [&](std::int64_t count, auto value_of) {
    std::vector<double> sums(count, 0.0);
    for (std::int64_t n = 0; n < count; ++n)
      for (std::size_t j = 0; j < channels.size(); ++j)
        sums[n] += weights[j] * channels[j].sign * value_of(channels[j].signal, n);
    return sums;
  };
  const auto some = [&](auto values_of) {
    return std::any_of(channels.begin(), channels.end(),
                       [&](const Channel& c) { return !values_of(c.signal).empty(); });
  };
  const bool arrivals = some([&](int s) { return model.arrival_values(s); });
  const bool outcomes = arrivals || some([&](int s) { return model.outcome_values(s); });
  return {std::move(name), sum(model.rows(), [&](int s, Row row) { return model.value(s, row); }),
          sum(outcomes ? model.outcomes() : 0,
              [&](int s, std::int64_t i) { return model.outcome_value(s, i); }),
          sum(arrivals ? model.states() : 0, [&](int s, std::int64_t to) {
            return model.arrival_value(s, static_cast<State>(to));
          })};
}

Problem weighted_sum(const Problem& problem, std::span<const Channel> channels,
                     std::span<const double> weights) {
  ModelArrays arrays = problem.model().arrays();
  Signal sum = weighted_signal(problem.model(), "", channels, weights);
  arrays.reward = std::move(sum.row);
  arrays.outcome_reward = std::move(sum.outcome);
  arrays.arrival_reward = std::move(sum.arrival);
  Terms terms = problem.terms();
  terms.constraints.clear();
  terms.objective = {};
  Model weighed(std::move(arrays));
  if (!weighed.arrays().submodel) return {std::move(weighed), std::move(terms)};
  return Problem::with_known_ends(std::move(weighed), std::move(terms));
}

}  // namespace redoubt::internal
