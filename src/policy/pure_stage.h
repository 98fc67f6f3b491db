#pragma once

#include <vector>

#include "policy/stage_builder.h"

namespace redoubt::internal {

// A stage of a memoryless policy that takes one action in each state; -1: the state is terminal.
inline Policy::Stage pure_stage(const std::vector<std::int32_t>& actions) {
  StageBuilder stage;
  stage.reserve(actions.size(), actions.size(), 0, 0);
  for (const std::int32_t action : actions) {
    if (action >= 0) stage.choose(action, 1.0);
    stage.end_node();
  }
  return stage.take();
}

}  // namespace redoubt::internal
