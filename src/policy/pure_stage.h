#pragma once

#include <vector>

#include "redoubt/policy.h"

namespace redoubt::internal {

// A stage of a memoryless policy that takes one action in each state; -1: the state is terminal.
inline Policy::Stage pure_stage(const std::vector<std::int32_t>& actions) {
  Policy::Stage stage;
  stage.choice_begin.reserve(actions.size() + 1);
  stage.choice_action.reserve(actions.size());
  stage.choice_weight.reserve(actions.size());
  stage.choice_begin.push_back(0);
  for (const std::int32_t action : actions) {
    if (action >= 0) stage.choice_action.push_back(action), stage.choice_weight.push_back(1.0);
    stage.choice_begin.push_back(static_cast<std::int64_t>(stage.choice_action.size()));
  }
  return stage;
}

}  // namespace redoubt::internal
