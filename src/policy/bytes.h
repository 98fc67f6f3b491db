#pragma once

#include "redoubt/policy.h"

namespace redoubt::internal {

// Bytes that the stages of a policy take.
inline double bytes_of(const Policy& policy) {
  const auto of = [](const auto& list) {
    return static_cast<double>(list.size() * sizeof list[0]);
  };
  double bytes = 0;
  for (const Policy::Stage& s : policy.stages) {
    bytes += of(s.node_begin) + of(s.mixed) + of(s.choice_begin) + of(s.choice_action) +
             of(s.choice_weight) + of(s.outcome_slot) + of(s.move_begin) + of(s.moves) +
             of(s.landing_begin) + of(s.landing_moves);
  }
  return bytes;
}

}  // namespace redoubt::internal
