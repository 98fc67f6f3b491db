#include "policy/landing_plans.h"

#include <algorithm>
#include <numeric>

#include "model/submodel.h"
#include "parallel/all_to_all.h"

namespace redoubt::internal {

WantedPlans::WantedPlans(const Model& model, const Policy::Stage& stage,
                         std::vector<std::int32_t> wanted, Communicator& ranks)
    : states_(model.all_states()), plans_(std::move(wanted)) {
  struct Slot {
    State state = 0;
    std::int32_t moves = 0;
  };
  const auto asked = all_to_all(ranks, std::vector(ranks.size(), plans_));
  std::vector<std::vector<Slot>> slots(ranks.size());  // [plan][state], of our own states
  std::vector<std::vector<MemoryMove>> moves(ranks.size());
  for (std::size_t r = 0; r < asked.size(); ++r) {
    for (const std::int32_t plan : asked[r]) {
      for (State s = 0; s < model.own_states(); ++s) {
        const auto slot = std::int64_t{plan} * model.own_states() + s;
        const auto first = stage.landing_begin[slot], last = stage.landing_begin[slot + 1];
        slots[r].push_back(
            {whole_number(model, model.own(s)), static_cast<std::int32_t>(last - first)});
        moves[r].insert(moves[r].end(), stage.landing_moves.begin() + first,
                        stage.landing_moves.begin() + last);
      }
    }
  }
  const auto their_slots = all_to_all(ranks, std::move(slots));
  const auto their_moves = all_to_all(ranks, std::move(moves));
  begin_.assign(static_cast<std::int64_t>(plans_.size()) * states_ + 1, 0);
  const auto for_each_slot = [&](const std::vector<Slot>& list, auto visit) {
    const auto own = plans_.empty() ? 1 : list.size() / plans_.size();
    for (std::size_t i = 0; i < list.size(); ++i)
      visit(static_cast<std::int64_t>(i / own) * states_ + list[i].state, list[i].moves);
  };
  for (const auto& list : their_slots)
    for_each_slot(list, [&](std::int64_t at, std::int32_t count) { begin_[at + 1] = count; });
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  moves_.resize(begin_.back());
  for (std::size_t r = 0; r < their_slots.size(); ++r) {
    auto from = their_moves[r].begin();
    for_each_slot(their_slots[r], [&](std::int64_t at, std::int32_t count) {
      std::copy_n(from, count, moves_.begin() + begin_[at]);
      from += count;
    });
  }
}

std::span<const MemoryMove> WantedPlans::at(std::int32_t plan, State whole) const {
  const auto place = std::lower_bound(plans_.begin(), plans_.end(), plan) - plans_.begin();
  const auto slot = place * states_ + whole;
  return {moves_.data() + begin_[slot], moves_.data() + begin_[slot + 1]};
}

}  // namespace redoubt::internal
