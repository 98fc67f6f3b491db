#include "solvers/frontier/search/weighted_sum.h"

#include <algorithm>

namespace redoubt::internal {

Problem weighted_sum(const Problem& problem, std::span<const Channel> channels,
                     std::span<const double> weights) {
  const Model& model = problem.model();
  ModelArrays arrays = model.arrays();
  const auto sum = [&](auto&& value_of) {
    double total = 0;
    for (std::size_t j = 0; j < channels.size(); ++j)
      total += weights[j] * channels[j].sign * value_of(channels[j].signal);
    return total;
  };
  const auto some = [&](auto&& values_of) {
    return std::any_of(channels.begin(), channels.end(),
                       [&](const Channel& c) { return !values_of(c.signal).empty(); });
  };
  const bool arrivals = some([&](int s) { return model.arrival_values(s); });
  const bool outcomes = arrivals || some([&](int s) { return model.outcome_values(s); });
  arrays.reward.resize(model.rows());
  for (Row row = 0; row < model.rows(); ++row)
    arrays.reward[row] = sum([&](int s) { return model.value(s, row); });
  arrays.outcome_reward.resize(outcomes ? model.outcomes() : 0);
  for (std::size_t i = 0; i < arrays.outcome_reward.size(); ++i)
    arrays.outcome_reward[i] =
        sum([&](int s) { return model.outcome_value(s, static_cast<std::int64_t>(i)); });
  arrays.arrival_reward.resize(arrivals ? model.states() : 0);
  for (std::size_t s = 0; s < arrays.arrival_reward.size(); ++s)
    arrays.arrival_reward[s] =
        sum([&](int signal) { return model.arrival_value(signal, static_cast<State>(s)); });
  Terms terms = problem.terms();
  terms.constraints.clear();
  terms.objective = {};
  Model weighed(std::move(arrays));
  if (!weighed.arrays().submodel) return {std::move(weighed), std::move(terms)};
  return Problem::with_known_ends(std::move(weighed), std::move(terms));
}

}  // namespace redoubt::internal
