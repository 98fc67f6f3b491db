#include "evaluation/lanes_by_action.h"

namespace redoubt::internal {

void LanesByAction::collect(const Policy::Stage& stage, std::int64_t first, MemoryRange range,
                            int actions) {
  if (actions == 0) range.count = 0;  // terminal: whatever is stored there, nothing is taken
  const auto begin = first + range.first, end = begin + range.count;
  begin_.assign(actions + 2, 0);  // of action a at a + 2 while they are counted
  for (auto node = begin; node < end; ++node) {
    for_each_choice(stage, node, [&](std::int32_t action, double weight) {
      if (weight > 0) ++begin_[action + 2];
    });
  }
  for (int a = 2; a <= actions + 1; ++a) begin_[a] += begin_[a - 1];
  lanes_.resize(begin_.back());
  weight_.resize(begin_.back());
  choice_.resize(begin_.back());
  for (auto node = begin; node < end; ++node) {
    auto position = stage.mixed.empty() ? stage.choice_begin[node] : node;
    for_each_choice(stage, node, [&](std::int32_t action, double weight) {
      if (weight > 0) {
        const auto at = begin_[action + 1]++;
        lanes_[at] = static_cast<std::int32_t>(node - first);
        weight_[at] = weight;
        choice_[at] = position;
      }
      ++position;
    });
  }
}

}  // namespace redoubt::internal
