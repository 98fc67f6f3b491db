#include "sets/state_lanes.h"

namespace redoubt::internal {

StateLanes::StateLanes(const Uncertainty& uncertainty, bool floor, InstructionSet instructions)
    : worst_(worst_of_states_kernel(uncertainty, instructions)),
      best_(best_of_states_kernel(uncertainty, instructions)),
      has_floor_(floor) {}

// Kernels take four blocks of lanes together; large states fill the caches sooner.
int StateLanes::most_lanes(StateShape shape) {
  constexpr int kLarge = 256;
  return shape.actions * shape.outcomes > kLarge ? kLaneBlock : 4 * kLaneBlock;
}

void StateLanes::resize(StateShape shape, int lanes) {
  shape_ = shape;
  lanes_ = lanes;
  padded_ = padded_lanes(lanes);
  const auto grow = [&](std::vector<double>& numbers, int places) {
    const auto count = static_cast<std::size_t>(places) * padded_;
    if (numbers.size() < count) numbers.resize(count);
  };
  grow(probability_, shape.actions * shape.outcomes);
  grow(value_, shape.actions * shape.outcomes);
  grow(floor_, shape.actions);
  grow(alone_, shape.actions);
  grow(weight_, shape.actions);
  grow(radius_, 1);
  grow(result_, 1);
}

// Lanes beyond the last one are computed as well.
void StateLanes::repeat_last_lane() {
  const auto repeat = [&](std::vector<double>& numbers, int places) {
    for (int i = 0; i < places; ++i) {
      for (int lane = lanes_; lane < padded_; ++lane)
        numbers[place(i, lane)] = numbers[place(i, lanes_ - 1)];
    }
  };
  repeat(probability_, shape_.actions * shape_.outcomes);
  repeat(value_, shape_.actions * shape_.outcomes);
  repeat(floor_, shape_.actions);
  repeat(alone_, shape_.actions);
  repeat(radius_, 1);
}

void StateLanes::worst(bool minimisers) {
  repeat_last_lane();
  const auto places = static_cast<std::size_t>(shape_.actions) * (shape_.outcomes + 1);
  if (minimisers && minimiser_.size() < places * padded_) minimiser_.resize(places * padded_);
  worst_(states(), values(), scratch_, result_.data(), minimisers ? minimiser_.data() : nullptr);
}

void StateLanes::best() {
  repeat_last_lane();
  best_(states(), values(), alone_.data(), scratch_, result_.data(), weight_.data());
}

}  // namespace redoubt::internal
