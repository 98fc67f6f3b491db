#include <algorithm>
#include <cmath>

#include "redoubt/simulator.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

void SimulatorShape::check() const {
  require(states >= 1, "states = {}, must be at least 1", states);
  require(stages >= 1, "stages = {}, must be at least 1", stages);
  const auto slots = static_cast<std::size_t>(states) * stages;
  require(state_rows.size() == slots + 1, "state_rows has {} entries, must have {}",
          state_rows.size(), slots + 1);
  require(state_rows.front() == 0 && state_rows.back() == rows() &&
              std::is_sorted(state_rows.begin(), state_rows.end()),
          "state_rows must increase from 0 to {}, the number of rows", rows());
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (Row row = state_rows[slot]; row < state_rows[slot + 1]; ++row) {
      require(action[row] >= 0 && (row == state_rows[slot] || action[row] > action[row - 1]),
              "action {} of state {}, must be at least 0 and above the one before", action[row],
              slot % states);
    }
  }
  require(outcomes.empty() || static_cast<Row>(outcomes.size()) == rows(),
          "outcomes of {} rows, must be of all {}", outcomes.size(), rows());
  for (const std::vector<Outcome>& row : outcomes) {
    require(!row.empty(), "a row without outcomes, must have at least one");
    for (const Outcome& outcome : row) {
      require(outcome.next >= 0 && outcome.next < states,
              "an outcome leads to state {}, must be in 0..{}", outcome.next, states - 1);
      require(outcome.values.empty() || outcome.values.size() == signals.size() + 1,
              "{} values of an outcome, must be the reward and {} signals", outcome.values.size(),
              signals.size());
    }
  }
  require(ranges.empty() || ranges.size() == signals.size() + 1,
          "ranges of {} quantities, must be of the reward and of {} signals", ranges.size(),
          signals.size());
  for (const auto& range : ranges)
    require(!range || (std::isfinite(range->least) && range->least <= range->most &&
                       std::isfinite(range->most)),
            "a range from {} to {}, must be finite and increase", range ? range->least : 0,
            range ? range->most : 0);
  require(weights.empty() || (static_cast<Row>(weights.size()) == rows() && !outcomes.empty()),
          "weights of {} rows, must be of all {}, whose outcomes are declared", weights.size(),
          rows());
  for (std::size_t row = 0; row < weights.size(); ++row)
    require(weights[row].empty() || weights[row].size() == outcomes[row].size(),
            "{} weights of a row with {} outcomes, must be one for each", weights[row].size(),
            outcomes[row].size());
  require(known.empty() || known.size() == signals.size() + 1,
          "known values of {} quantities, must be of the reward and of {} signals", known.size(),
          signals.size());
  for (const Known& values : known) {
    require(values.row.empty() || values.row.size() == action.size(),
            "{} known values of rows, must be {}", values.row.size(), action.size());
    require(values.arrival.empty() || values.arrival.size() == static_cast<std::size_t>(states),
            "{} known values of arrivals, must be {}", values.arrival.size(), states);
  }
}

SimulatorShape regular_shape(State states, std::int32_t actions, std::vector<std::string> signals,
                             int stages, const std::vector<State>& terminal) {
  require(states >= 1, "states = {}, must be at least 1", states);
  require(actions >= 0, "actions = {}, must be at least 0", actions);
  require(stages >= 1, "stages = {}, must be at least 1", stages);
  std::vector<bool> ends(states, false);
  for (const State state : terminal) {
    require(state >= 0 && state < states, "terminal state {}, must be in 0..{}", state, states - 1);
    ends[state] = true;
  }
  SimulatorShape shape;
  shape.states = states;
  shape.stages = stages;
  shape.signals = std::move(signals);
  shape.state_rows.push_back(0);
  for (int stage = 0; stage < stages; ++stage) {
    for (State state = 0; state < states; ++state) {
      for (std::int32_t a = 0; a < actions && !ends[state]; ++a) shape.action.push_back(a);
      shape.state_rows.push_back(shape.rows());
    }
  }
  if (stages > 1) shape.terms.horizon = stages;
  return shape;
}

}  // namespace redoubt
