#pragma once

#include <fmt/format.h>

#include <string>

#include "redoubt/simulator.h"

namespace redoubt::internal {

// "draw 83 of (state 3, action 1)", with the stage where rows depend on it.
inline std::string query_name(const SimulatorShape& shape, const Query& query) {
  const std::string state =
      shape.state_names.empty() ? fmt::format("{}", query.state) : shape.state_names[query.state];
  const std::string action = shape.action_names.empty() ? fmt::format("{}", query.action)
                                                        : shape.action_names[query.action];
  const std::string stage = shape.stages == 1 ? "" : fmt::format("stage {}, ", query.stage);
  return fmt::format("draw {} of ({}state {}, action {})", query.draw, stage, state, action);
}

}  // namespace redoubt::internal
