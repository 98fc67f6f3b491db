#include "redoubt/objective.h"

#include <fmt/ranges.h>

#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

std::string signals_text(const Model& model) {
  std::vector<std::string> names;
  for (const Signal& signal : model.arrays().signals) names.push_back(signal.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void fail_without_reward(const Model& model) {
  throw Error(fmt::format(
      "nothing is called the reward, must be chosen: {}reward none says that there is none",
      model.signals() == 0
          ? ""
          : fmt::format("reward NAME or minimise NAME, of {}; ", signals_text(model))));
}

std::vector<double> times(double sign, std::vector<double> values) {
  for (double& value : values) value *= sign;
  return values;
}

}  // namespace

Model with_objective(const Model& model, const Objective& objective, bool rewarded) {
  if (!rewarded && !objective.chosen()) fail_without_reward(model);
  if (!objective.chosen()) return model;
  require(!objective.none || objective.signal.empty(),
          "objective none and signal '{}', must be one of them", objective.signal);
  ModelArrays arrays = model.arrays();
  arrays.reward.clear();
  arrays.outcome_reward.clear();
  arrays.arrival_reward.clear();
  if (!objective.none) {
    const int chosen = model.signal_index(objective.signal);
    require(chosen >= 0, "reward '{}', must be a signal of the model, which has {}",
            objective.signal, model.signals() == 0 ? "none" : signals_text(model));
    const double sign = objective.minimise ? -1 : 1;
    arrays.reward = times(sign, arrays.signals[chosen].row);
    arrays.outcome_reward = times(sign, arrays.signals[chosen].outcome);
    arrays.arrival_reward = times(sign, arrays.signals[chosen].arrival);
  }
  return Model(std::move(arrays));
}

}  // namespace redoubt
