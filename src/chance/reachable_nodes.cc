#include "chance/reachable_nodes.h"

#include <algorithm>
#include <numeric>

#include "bellman/row_evaluator.h"
#include "model/submodel.h"
#include "parallel/collectives.h"

namespace redoubt::internal {

void sort_unique(Nodes& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

Place place_in(const AugmentedProblem& augmented, bool original, State state) {
  if (!original) return {state, augmented.problem.model().own_place(state)};
  const Model& model = augmented.original.model();
  const State there = number_here(model, augmented.state[state]);
  return {there, model.own_place(there)};
}

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

PolicyWalk::PolicyWalk(const AugmentedProblem& augmented, const Policy& policy, bool of_original,
                       Workers& workers)
    : augmented_(augmented),
      model_(augmented.problem.model()),
      policy_(policy),
      of_original_(of_original),
      workers_(workers) {}

std::vector<PolicyWalk::Choice> PolicyWalk::choices(int h, const AugmentedNode& node) const {
  std::vector<Choice> list;
  const State state = number_here(model_, node.state);
  const Row first = model_.row_begin(h, state);
  if (first == model_.row_end(h, state)) return list;
  const Policy::Stage& here = policy_.at(h);
  const Place place = place_in(augmented_, of_original_, state);
  const auto at = here.begin(place.own) + node.memory;
  auto position = here.mixed.empty() ? here.choice_begin[at] : at;
  for_each_choice(here, at, [&](std::int32_t action, double weight) {
    if (weight > 0)
      list.push_back({{h, place.state, node.memory, action, position}, weight, first + action});
    ++position;
  });
  return list;
}

void PolicyWalk::look_at(int h, const Nodes& nodes) {
  if (!of_original_ || !lands_anywhere(augmented_.original)) return;
  std::vector<std::int32_t> wanted;
  for (const AugmentedNode& node : nodes) {
    for (const Choice& choice : choices(h, node)) {
      for (const MemoryMove& plan : plans(choice)) wanted.push_back(plan.memory);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  plans_ =
      WantedPlans(augmented_.original.model(), policy_.at(h), std::move(wanted), workers_.ranks());
}

std::vector<MemoryMove> PolicyWalk::after(const Choice& choice, std::int64_t outcome) const {
  std::vector<MemoryMove> moves;
  const State next = model_.arrays().next[outcome];
  if (!of_original_) {
    memory_moves(augmented_.problem, policy_, choice.decision,
                 outcome - model_.outcome_begin(choice.row), next, moves);
    return moves;
  }
  const std::int64_t original = augmented_.outcome[outcome];
  if (original < original_outcomes(choice) || !moves_by_table(choice)) {
    memory_moves(augmented_.original, policy_, choice.decision, original, augmented_.state[next],
                 moves);
    return moves;
  }
  for (const MemoryMove& plan : plans(choice)) {
    for (const MemoryMove& move : plans_.at(plan.memory, augmented_.state[next]))
      moves.push_back({move.memory, plan.weight * move.weight});
  }
  return moves;
}

std::vector<MemoryMove> PolicyWalk::at_start(State start) const {
  return start_memory(policy_,
                      of_original_ ? augmented_.state[start] : whole_number(model_, start));
}

Nodes PolicyWalk::start_nodes(bool all) const {
  Nodes nodes;
  for (const State start : augmented_.problem.start().states) {
    if (!model_.owns(start)) continue;
    const State whole = whole_number(model_, start);
    if (all) {
      const State own = place_in(augmented_, of_original_, start).own;
      const auto count = static_cast<std::int32_t>(memory_of(policy_, 0, own));
      for (std::int32_t m = 0; m < count; ++m) nodes.push_back({whole, m});
    } else {
      for (const MemoryMove& move : at_start(start)) nodes.push_back({whole, move.memory});
    }
  }
  sort_unique(nodes);
  return nodes;
}

Nodes PolicyWalk::follow(int h, const Nodes& nodes) const {
  Nodes next;
  for (const AugmentedNode& node : nodes) {
    workers_.check();
    for (const Choice& choice : choices(h, node)) {
      for (auto i = model_.outcome_begin(choice.row); i < model_.outcome_end(choice.row); ++i) {
        const State state = whole_number(model_, model_.arrays().next[i]);
        for (const MemoryMove& move : after(choice, i)) next.push_back({state, move.memory});
      }
    }
  }
  sort_unique(next);
  return next;
}

bool PolicyWalk::moves_by_table(const Choice& choice) const {
  return policy_.budget.empty() && !policy_.at(choice.decision.stage).outcome_slot.empty();
}

std::int64_t PolicyWalk::original_outcomes(const Choice& choice) const {
  const Model& original = augmented_.original.model();
  const Row row =
      original.row_begin(choice.decision.stage, choice.decision.state) + choice.decision.action;
  return original.outcome_end(row) - original.outcome_begin(row);
}

std::span<const MemoryMove> PolicyWalk::plans(const Choice& choice) const {
  if (!moves_by_table(choice)) return {};
  const Policy::Stage& here = policy_.at(choice.decision.stage);
  const auto slot = here.outcome_slot[choice.decision.choice] + original_outcomes(choice);
  return {here.moves.data() + here.move_begin[slot], here.moves.data() + here.move_begin[slot + 1]};
}

}  // namespace redoubt::internal
