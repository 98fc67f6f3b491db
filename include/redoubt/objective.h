#pragma once

#include <string>

#include "redoubt/model.h"

namespace redoubt {

// What a problem maximises: the reward of its model, unless a signal is chosen in its place. Files
// of other programs name their rewards as they like, so that the one that counts may have to be
// chosen.
struct Objective {
  std::string signal = {};  // or the words of a goal; empty: the model's own reward
  bool minimise = false;    // the signal is a cost: its negative is the reward
  bool none = false;        // no reward, and that is meant: any policy that keeps the constraints

  bool chosen() const { return none || !signal.empty(); }
  bool operator==(const Objective&) const = default;
};

// The model with this reward. The signal stays a signal, so that constraints may speak of it, too.
// An Error when there is no such signal, and one that lists what could be the reward when nothing
// is chosen and the model was not given any (`rewarded` is false).
Model with_objective(const Model& model, const Objective& objective, bool rewarded = true);

}  // namespace redoubt
