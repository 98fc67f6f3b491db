#pragma once

#include <algorithm>
#include <compare>
#include <span>
#include <vector>

#include "sets/worst_case.h"

namespace redoubt::internal {

// How many actions a state has that count, and the most outcomes that one of their rows has. It
// decides how the state is laid out, and depends on nothing else: so a state's result has the same
// bits whatever states stand beside it.
struct StateShape {
  int actions = 0, outcomes = 0;
  auto operator<=>(const StateShape&) const = default;
};

// States whose rows share a radius, side by side in lanes. One for each thread.
class StateLanes {
 public:
  // `floor`: the set has landings.
  StateLanes(const Uncertainty& uncertainty, bool floor,
             InstructionSet instructions = best_instruction_set());

  // Room for this many states of one shape.
  void resize(StateShape shape, int lanes);
  static int most_lanes(StateShape shape);  // that are laid out at a time

  // Everything of a lane must be set. Outcomes beyond the end of a row are none: see `end_row`.
  void set_radius(int lane, double radius) { radius_[lane] = radius; }
  void set(int lane, int action, int outcome, double probability, double value) {
    const auto at = place(action * shape_.outcomes + outcome, lane);
    probability_[at] = probability;
    value_[at] = value;
  }
  void end_row(int lane, int action, int outcomes) {
    const double first = value_[place(action * shape_.outcomes, lane)];
    for (int i = outcomes; i < shape_.outcomes; ++i) set(lane, action, i, 0.0, first);
  }
  void set_floor(int lane, int action, double value) { floor_[place(action, lane)] = value; }
  // The worst case of taking the action with certainty, for `best`.
  void set_alone(int lane, int action, double value) { alone_[place(action, lane)] = value; }

  void worst(bool minimisers);
  void best();

  double result(int lane) const { return result_[lane]; }
  double weight(int lane, int action) const { return weight_[place(action, lane)]; }
  double chosen(int lane, int action, int outcome) const {
    return minimiser_[place(action * shape_.outcomes + outcome, lane)];
  }
  double landing(int lane, int action) const {
    return minimiser_[place(shape_.actions * shape_.outcomes + action, lane)];
  }

 private:
  std::size_t place(int number, int lane) const {
    return static_cast<std::size_t>(number) * padded_ + lane;
  }
  void repeat_last_lane();
  LaneStates states() const {
    return {shape_.actions, shape_.outcomes, probability_.data(), radius_.data()};
  }
  StateValues values() const {
    return {lanes_, value_.data(), has_floor_ ? floor_.data() : nullptr};
  }

  WorstOfStates worst_;
  BestOfStates best_;
  bool has_floor_;
  StateShape shape_;
  int lanes_ = 0, padded_ = 0;
  Scratch scratch_;
  std::vector<double> probability_, value_;  // [action][outcome][lane]
  std::vector<double> minimiser_;            // and behind it [action][lane]
  std::vector<double> floor_, alone_, weight_;
  std::vector<double> radius_, result_;
};

// Calls solve(members) for states of one shape at a time, at most as many as there are lanes;
// members are positions in `shapes`.
template <class Solve>
void for_each_shape(std::span<const StateShape> shapes, std::vector<int>& order, Solve solve) {
  order.resize(shapes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return shapes[a] == shapes[b] ? a < b : shapes[a] < shapes[b]; });
  for (std::size_t first = 0; first < order.size();) {
    const StateShape shape = shapes[order[first]];
    const auto most = first + static_cast<std::size_t>(StateLanes::most_lanes(shape));
    std::size_t last = first + 1;
    while (last < order.size() && last < most && shapes[order[last]] == shape) ++last;
    solve(std::span<const int>(order).subspan(first, last - first));
    first = last;
  }
}

}  // namespace redoubt::internal
