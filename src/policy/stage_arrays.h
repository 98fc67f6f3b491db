#pragma once

#include "redoubt/policy.h"

namespace redoubt::internal {

// Every array of a stage, by name.
template <class Visit>
void for_each_stage_array(Visit visit) {
  using Stage = Policy::Stage;
  visit("node_begin", &Stage::node_begin);
  visit("mixed", &Stage::mixed);
  visit("choice_begin", &Stage::choice_begin);
  visit("choice_action", &Stage::choice_action);
  visit("choice_weight", &Stage::choice_weight);
  visit("outcome_slot", &Stage::outcome_slot);
  visit("move_begin", &Stage::move_begin);
  visit("moves", &Stage::moves);
  visit("landing_begin", &Stage::landing_begin);
  visit("landing_moves", &Stage::landing_moves);
}

// Bytes that the stages of a policy take.
inline double bytes_of(const Policy& policy) {
  double bytes = 0;
  for (const Policy::Stage& stage : policy.stages) {
    for_each_stage_array([&](const char*, auto array) {
      bytes += static_cast<double>((stage.*array).size() * sizeof(stage.*array)[0]);
    });
  }
  return bytes;
}

}  // namespace redoubt::internal
