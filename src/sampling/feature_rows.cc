#include "sampling/feature_rows.h"

#include "support/require.h"

namespace redoubt::internal {

void require_features(const Model& features) {
  require(features.factors() > 0, "features of a model with {} factors, must have at least one",
          features.factors());
  const ModelArrays& a = features.arrays();
  for (int signal = -1; signal < features.signals(); ++signal) {
    if (features.outcome_values(signal).empty()) continue;
    for (std::int64_t i = 0; i < features.outcomes(); ++i)
      require(features.outcome_value(signal, i) == features.arrival_value(signal, a.next[i]),
              "an outcome in state {} earns {} and every other arrival there {}, must be the same "
              "where factors are estimated",
              features.state_name(a.next[i]), features.outcome_value(signal, i),
              features.arrival_value(signal, a.next[i]));
  }
}

Row feature_row(const Model& features, int stage, State state, std::int32_t action) {
  const auto& actions = features.arrays().action;
  for (Row row = features.row_begin(stage, state); row < features.row_end(stage, state); ++row)
    if (actions[row] == action) return row;
  throw Error(
      fmt::format("state {} has no action {} in the features, must have the one that is "
                  "sampled",
                  features.state_name(state), features.action_name(action)));
}

}  // namespace redoubt::internal
