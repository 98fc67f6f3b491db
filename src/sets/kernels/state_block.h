#pragma once

#include "sets/kernels/block.h"
#include "sets/row.h"

// The rows of a block's states, one action after the other.
namespace redoubt::internal::REDOUBT_TARGET {

// Eight lanes of numbers that are laid out [place][lane].
struct Column {
  double* first;
  int stride;

  [[gnu::always_inline]] Lanes get(int place) const {
    return load(first + static_cast<std::size_t>(place) * stride);
  }
  [[gnu::always_inline]] void set(int place, Lanes numbers) const {
    store(first + static_cast<std::size_t>(place) * stride, numbers);
  }
};
struct ConstColumn {
  const double* first;
  int stride;

  [[gnu::always_inline]] Lanes get(int place) const {
    return load(first + static_cast<std::size_t>(place) * stride);
  }
};

struct StateBlock {
  int actions, outcomes;
  ConstColumn probability, value, floor;
  bool has_floor;
  Lanes radius;

  StateBlock(const LaneStates& states, const StateValues& values, int lane)
      : actions(states.actions),
        outcomes(states.outcomes),
        probability{states.probability + lane, padded_lanes(values.lanes)},
        value{values.values + lane, padded_lanes(values.lanes)},
        floor{values.floor != nullptr ? values.floor + lane : nullptr, padded_lanes(values.lanes)},
        has_floor(values.floor != nullptr),
        radius(load(states.radius + lane)) {}

  [[gnu::always_inline]] Lanes p(int action, int outcome) const {
    return probability.get(action * outcomes + outcome);
  }
  [[gnu::always_inline]] Lanes v(int action, int outcome) const {
    return value.get(action * outcomes + outcome);
  }
  // The lowest value that nature can give to an action.
  [[gnu::always_inline]] Lanes low(int action) const {
    Lanes low = v(action, 0);
    for (int i = 1; i < outcomes; ++i) low = min(v(action, i), low);
    return has_floor ? min(floor.get(action), low) : low;
  }
  [[gnu::always_inline]] Lanes mass_at(int action, Lanes low) const {
    Lanes mass = 0.0;
    for (int i = 0; i < outcomes; ++i) mass = add_where(v(action, i) == low, mass, p(action, i));
    return mass;
  }
  // In the order of the outcomes: every set uses this one where it needs the nominal mean.
  [[gnu::always_inline]] Lanes expectation() const {
    Lanes sum = 0.0;
    for (int i = 0; i < actions * outcomes; ++i) sum += probability.get(i) * value.get(i);
    return sum;
  }
};

// Calls solve(block, minimiser or null) for each block of lanes; it returns the worst case.
template <class Solve>
[[gnu::always_inline]] inline void for_each_state_block(const LaneStates& states,
                                                        const StateValues& values, double* worst,
                                                        double* minimiser, Solve solve) {
  for (int lane = 0; lane < values.lanes; lane += kLanes) {
    const StateBlock block(states, values, lane);
    const Column place{minimiser != nullptr ? minimiser + lane : nullptr,
                       padded_lanes(values.lanes)};
    store(worst + lane, solve(block, minimiser != nullptr ? &place : nullptr));
  }
}

// Nothing lands outside of a row.
inline void no_landings(const StateBlock& s, const Column& minimiser) {
  for (int a = 0; a < s.actions; ++a) minimiser.set(s.actions * s.outcomes + a, 0.0);
}

// Lanes whose rows are certain keep their nominal distributions.
inline void keep_nominal_states(Mask certain, const StateBlock& s, const Column& minimiser) {
  if (!any(certain)) return;
  for (int i = 0; i < s.actions * s.outcomes; ++i)
    minimiser.set(i, select(certain, s.probability.get(i), minimiser.get(i)));
  for (int a = 0; a < s.actions; ++a) {
    const int place = s.actions * s.outcomes + a;
    minimiser.set(place, select(certain, 0.0, minimiser.get(place)));
  }
}

void state_tv(const LaneStates&, const StateValues&, Scratch&, double* worst, double* minimiser);
void state_chi2(const LaneStates&, const StateValues&, Scratch&, double* worst, double* minimiser);
void state_kl(const LaneStates&, const StateValues&, Scratch&, double* worst, double* minimiser);
void best_tv(const LaneStates&, const StateValues&, const double* alone, Scratch&, double* best,
             double* weight);
void best_chi2(const LaneStates&, const StateValues&, const double* alone, Scratch&, double* best,
               double* weight);
void best_kl(const LaneStates&, const StateValues&, const double* alone, Scratch&, double* best,
             double* weight);

}  // namespace redoubt::internal::REDOUBT_TARGET
