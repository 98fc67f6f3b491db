#include "io/stage_slices.h"

#include <algorithm>

#include "io/stage_arrays.h"
#include "model/require.h"

namespace redoubt::io {
namespace {

// Makes offsets count from the first of them, which is returned.
std::int64_t count_from_first(std::vector<std::int64_t>& offsets) {
  const std::int64_t first = offsets.front();
  for (std::int64_t& at : offsets) at -= first;
  return first;
}

}  // namespace

StageSlices::StageSlices(const hdf5::Input& in, std::string prefix, State states, int most_outcomes)
    : in_(in), prefix_(std::move(prefix)), states_(states), most_outcomes_(most_outcomes) {
  memory_ = in.read<std::int32_t>(prefix_ + "memory");
  for_each_stage_array([&](const char* name, auto) {
    begin_[name] = in.read<std::int64_t>(prefix_ + name + "_begin");
  });
}

std::int64_t StageSlices::size(const char* name, int stage) const {
  const std::vector<std::int64_t>& begin = begin_.at(name);
  return stage + 1 < static_cast<int>(begin.size()) ? begin[stage + 1] - begin[stage] : 0;
}

template <class Value>
std::vector<Value> StageSlices::entries(const char* name, int stage, std::int64_t at,
                                        std::int64_t count) const {
  require(at >= 0 && count >= 0 && at <= size(name, stage) - count,
          "{} of stage {} of the policy has {} entries, must have {} from {} on", name, stage,
          size(name, stage), count, at);
  if (count == 0) return {};
  return in_.read_range<Value>(prefix_ + name, begin_.at(name)[stage] + at, count);
}

Policy::Stage StageSlices::read(int h, State begin, State end) const {
  Policy::Stage stage;
  stage.memory = memory_[h];
  std::int64_t node = std::int64_t{begin} * stage.memory,
               nodes = std::int64_t{end - begin} * stage.memory;
  if (size("node_begin", h) > 0) {
    stage.node_begin = entries<std::int64_t>("node_begin", h, begin, end - begin + 1);
    node = count_from_first(stage.node_begin);
    nodes = stage.node_begin.back();
  }
  if (size("mixed", h) > 0) {
    stage.mixed = entries<MixedChoice>("mixed", h, node, nodes);
    return stage;
  }
  if (size("choice_begin", h) == 0) return stage;
  stage.choice_begin = entries<std::int64_t>("choice_begin", h, node, nodes + 1);
  const std::int64_t choice = count_from_first(stage.choice_begin);
  const std::int64_t choices = stage.choice_begin.back();
  stage.choice_action = entries<std::int32_t>("choice_action", h, choice, choices);
  stage.choice_weight = entries<double>("choice_weight", h, choice, choices);
  if (size("outcome_slot", h) == 0) return stage;
  stage.outcome_slot = entries<std::int64_t>("outcome_slot", h, choice, choices);
  read_moves(h, stage);
  read_landings(h, begin, end, stage);
  return stage;
}

// What the choices move to, from their first slot to their last: a slot for each outcome and, where
// nature may land outside of them, one more.
void StageSlices::read_moves(int h, Policy::Stage& stage) const {
  stage.move_begin = {0};
  if (stage.outcome_slot.empty()) return;
  const auto [low, high] =
      std::minmax_element(stage.outcome_slot.begin(), stage.outcome_slot.end());
  const std::int64_t first = *low,
                     last = std::min(*high + most_outcomes_ + 1, size("move_begin", h) - 1);
  stage.move_begin = entries<std::int64_t>("move_begin", h, first, last - first + 1);
  for (std::int64_t& slot : stage.outcome_slot) slot -= first;
  const std::int64_t move = count_from_first(stage.move_begin);
  stage.moves = entries<MemoryMove>("moves", h, move, stage.move_begin.back());
}

// What each landing plan says of the states.
void StageSlices::read_landings(int h, State begin, State end, Policy::Stage& stage) const {
  const std::int64_t slots = size("landing_begin", h) - 1;
  if (slots < 0) return;
  require(slots % states_ == 0,
          "landing_begin of stage {} of the policy has {} entries, must have one for each plan and "
          "state, and one more",
          h, slots + 1);
  stage.landing_begin = {0};
  for (std::int64_t plan = 0; plan < slots / states_; ++plan) {
    auto offsets =
        entries<std::int64_t>("landing_begin", h, plan * states_ + begin, end - begin + 1);
    const std::int64_t move = count_from_first(offsets);
    const auto moves = entries<MemoryMove>("landing_moves", h, move, offsets.back());
    const auto before = static_cast<std::int64_t>(stage.landing_moves.size());
    for (std::size_t s = 1; s < offsets.size(); ++s)
      stage.landing_begin.push_back(before + offsets[s]);
    stage.landing_moves.insert(stage.landing_moves.end(), moves.begin(), moves.end());
  }
}

}  // namespace redoubt::io
