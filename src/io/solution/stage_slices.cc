#include "io/solution/stage_slices.h"

#include <algorithm>

#include "io/solution/parts_hdf5.h"
#include "io/solution/state_ranges.h"
#include "policy/stage_arrays.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

// Makes offsets count from the first of them, which is returned.
std::int64_t count_from_first(std::vector<std::int64_t>& offsets) {
  const std::int64_t first = offsets.front();
  for (std::int64_t& at : offsets) at -= first;
  return first;
}

template <class Value, class From>
void append(std::vector<Value>& to, const From& from, std::int64_t begin, std::int64_t end) {
  to.insert(to.end(), from.begin() + begin, from.begin() + end);
}

// What entries begin..end-1 of some offsets have.
void append_offsets(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from,
                    std::int64_t begin, std::int64_t end) {
  if (to.empty()) to.push_back(0);
  const std::int64_t shift = to.back() - from[begin];
  for (auto e = begin; e < end; ++e) to.push_back(from[e + 1] + shift);
}

// Landings of the own states of ranges, plan by plan.
class OwnLandings {
 public:
  void add(const Policy::Stage& from, State states, State state) {
    const auto plans = (static_cast<std::int64_t>(from.landing_begin.size()) - 1) / states;
    offsets_.resize(std::max<std::int64_t>(0, plans));
    moves_.resize(offsets_.size());
    for (std::int64_t plan = 0; plan < plans; ++plan) {
      const auto slot = plan * states + state;
      append(moves_[plan], from.landing_moves, from.landing_begin[slot],
             from.landing_begin[slot + 1]);
      append_offsets(offsets_[plan], from.landing_begin, slot, slot + 1);
    }
  }
  void write(Policy::Stage& to) const {
    for (std::size_t plan = 0; plan < offsets_.size(); ++plan) {
      append_offsets(to.landing_begin, offsets_[plan], 0,
                     static_cast<std::int64_t>(offsets_[plan].size()) - 1);
      append(to.landing_moves, moves_[plan], 0, static_cast<std::int64_t>(moves_[plan].size()));
    }
  }

 private:
  std::vector<std::vector<std::int64_t>> offsets_;
  std::vector<std::vector<MemoryMove>> moves_;
};

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

Policy::Stage StageSlices::read_own(int h, const Model& model) const {
  constexpr State kMostStates = 1 << 14;  // of a range, in memory besides our own
  const auto number = [&](State place) { return whole_number(model, model.own(place)); };
  const State own = model.own_states();
  if (own == 0) return read(h, 0, 0);
  if (number(own - 1) - number(0) == own - 1) return read(h, number(0), number(0) + own);
  Policy::Stage stage;
  OwnLandings landings;
  for_each_range_of_own(model, kMostStates, [&](State begin, State end, State first, State last) {
    const Policy::Stage range = read(h, begin, end);
    stage.memory = range.memory;
    if (range.mixed.empty() && range.choice_begin.empty()) return;  // not made yet
    check_structure(range, end - begin, h);
    for (State place = first; place < last; ++place) {
      append_state(stage, range, number(place) - begin);
      landings.add(range, end - begin, number(place) - begin);
    }
  });
  landings.write(stage);
  return stage;
}

// Adds what a state has in another stage, landings apart.
void StageSlices::append_state(Policy::Stage& to, const Policy::Stage& from, State state) const {
  const std::int64_t node = from.begin(state), node_end = from.end(state);
  if (!from.node_begin.empty()) append_offsets(to.node_begin, from.node_begin, state, state + 1);
  if (!from.mixed.empty()) append(to.mixed.edit(), from.mixed, node, node_end);
  if (from.choice_begin.empty()) return;
  append_offsets(to.choice_begin, from.choice_begin, node, node_end);
  const std::int64_t choice = from.choice_begin[node], choice_end = from.choice_begin[node_end];
  append(to.choice_action, from.choice_action, choice, choice_end);
  append(to.choice_weight, from.choice_weight, choice, choice_end);
  if (from.move_begin.empty()) return;
  if (to.move_begin.empty()) to.move_begin.push_back(0);
  for (auto c = choice; c < choice_end && !from.outcome_slot.empty(); ++c) {
    const std::int64_t slot = from.outcome_slot[c],
                       slot_end = std::min(slot + most_outcomes_ + 1,
                                           static_cast<std::int64_t>(from.move_begin.size()) - 1);
    to.outcome_slot.push_back(static_cast<std::int64_t>(to.move_begin.size()) - 1);
    append(to.moves, from.moves, from.move_begin[slot], from.move_begin[slot_end]);
    append_offsets(to.move_begin, from.move_begin, slot, slot_end);
  }
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
  constexpr std::int64_t kMostSlots = 1 << 16;  // of all states, in memory besides our own
  const std::int64_t batch = std::max<std::int64_t>(1, kMostSlots / states_);
  stage.landing_begin = {0};
  if (begin == end) return;
  for (std::int64_t plan = 0; plan < slots / states_; plan += batch) {
    const std::int64_t plans = std::min(batch, slots / states_ - plan);
    auto offsets = entries<std::int64_t>("landing_begin", h, plan * states_ + begin,
                                         (plans - 1) * states_ + end - begin + 1);
    require(std::is_sorted(offsets.begin(), offsets.end()),
            "landing_begin of stage {} of the policy decreases, must not", h);
    const std::int64_t move = count_from_first(offsets);
    const auto moves = entries<MemoryMove>("landing_moves", h, move, offsets.back());
    for (std::int64_t p = 0; p < plans; ++p) {
      for (std::int64_t slot = p * states_; slot < p * states_ + end - begin; ++slot) {
        stage.landing_moves.insert(stage.landing_moves.end(), moves.begin() + offsets[slot],
                                   moves.begin() + offsets[slot + 1]);
        stage.landing_begin.push_back(static_cast<std::int64_t>(stage.landing_moves.size()));
      }
    }
  }
}

}  // namespace redoubt::internal::io
