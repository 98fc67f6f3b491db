// What landings are worth.

#include <algorithm>
#include <cmath>
#include <limits>

#include "bellman/over_states.h"
#include "evaluation/stage_evaluation.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "policy/memory_update.h"

namespace redoubt::internal {

// What each plan for a landing is worth in every state of the whole model, once for all rows of a
// stage.
void StageEvaluation::prepare_landings(int stage, const Next& next) {
  const Policy::Stage& here = policy_->at(stage);
  const Model& model = problem_->model();
  Communicator& ranks = group_->ranks();
  const auto all = static_cast<std::int64_t>(next.size()) / channels();
  const std::int64_t own = policy_->states,
                     slots = static_cast<std::int64_t>(here.landing_begin.size()) - 1,
                     plans = own > 0 ? slots / own : 0;
  plans_ = static_cast<std::int64_t>(max_over_ranks(ranks, static_cast<double>(plans)));
  std::vector<double> values(plans_ * channels() * own, 0.0);
  for (int c = 0; c < channels(); ++c) {
    for (std::int64_t slot = 0; slot < plans_ * own; ++slot) {
      const State state = model.own(static_cast<State>(slot % own));
      const auto first = first_node(stage + 1, state);
      values[c * plans_ * own + slot] = arrival_worth(*problem_, channels_[c], state);
      for (auto m = here.landing_begin[slot]; m < here.landing_begin[slot + 1]; ++m) {
        values[c * plans_ * own + slot] +=
            here.landing_moves[m].weight * next[c * all + first + here.landing_moves[m].memory];
      }
    }
  }
  if (!model.arrays().submodel) {
    floor_ = std::move(values);
    return;
  }
  values = all_gather_lists(ranks, std::move(values));  // [rank][channel][plan][state]
  std::vector<State> mine;
  for (State s = 0; s < model.own_states(); ++s) mine.push_back(whole_number(model, model.own(s)));
  const std::vector<State> states = all_gather_lists(ranks, std::move(mine));
  floor_.resize(values.size());
  const double* from = values.data();
  auto first = states.begin();
  for (const State count : all_gather_one(ranks, model.own_states())) {
    for (std::int64_t plan = 0; plan < plans_ * channels(); ++plan) {
      for (State s = 0; s < count; ++s) floor_[plan * all_states_ + first[s]] = *from++;
    }
    first += count;
  }
}

// How many memory states of the next stage a landing may have, in every state.
std::int32_t StageEvaluation::floor_memory(int stage) const {
  if (!policy_->budget.empty()) return memory_states(policy_->budget, stage + 1);
  const bool decides =
      stage + 1 < static_cast<int>(policy_->stages.size()) || policy_->repeats_last;
  if (!decides || !policy_->at(stage + 1).node_begin.empty()) return 1;
  return policy_->at(stage + 1).memory;
}

// What the least-valued landing is worth, once for all rows of a stage: by budget cell, or by
// landing plan and state.
void StageEvaluation::prepare_floor(int stage, const Next& next) {
  if (by_table(stage)) return prepare_landings(stage, next);
  const auto all = static_cast<std::int64_t>(next.size()) / channels();
  if (mixed_landings_.needed())
    return mixed_landings_.find(stage, channels_, [&](int c, State s) {
      return next.data() + c * all + first_node(stage + 1, s);
    });
  const auto memory = floor_memory(stage);
  floor_.resize(std::int64_t{memory} * channels());
  for (int c = 0; c < channels(); ++c) {
    const auto values_of = [&](State s) {
      return next.data() + c * all + first_node(stage + 1, s);
    };
    const auto worth_of = [&](State s) { return arrival_worth(*problem_, channels_[c], s); };
    min_over_states(*group_, problem_->model().states(), values_of, worth_of,
                    {floor_.data() + std::int64_t{c} * memory, static_cast<std::size_t>(memory)});
  }
}

// The value of the least of the states that a row does not list, by a mixture of landing plans. A
// row that lists every state leaves nowhere else to land: infinite.
double StageEvaluation::least_landing(const Policy::Stage& here, std::int64_t slot, int channel,
                                      std::span<const State> listed) const {
  const double* floor = floor_.data() + channel * plans_ * all_states_;
  double least = std::numeric_limits<double>::infinity();
  State from = 0;
  for (std::size_t i = 0; i <= listed.size(); ++i) {
    const State to = i < listed.size() ? listed[i] : all_states_;
    for (State s = from; s < to; ++s) {
      double sum = 0;
      for (auto m = here.move_begin[slot]; m < here.move_begin[slot + 1]; ++m)
        sum += here.moves[m].weight * floor[here.moves[m].memory * std::int64_t{all_states_} + s];
      least = std::min(least, sum);
    }
    from = to + 1;
  }
  return least;
}

void StageEvaluation::gather_landings(int stage, Row row, Worker& worker) const {
  const Model& model = problem_->model();
  const Policy::Stage& here = policy_->at(stage);
  const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
  listed_states(model, row, worker.listed);
  const auto count = worker.lanes.size();
  for (int c = 0; c < channels(); ++c) {
    for (std::size_t lane = 0; lane < count; ++lane) {
      const auto slot = here.outcome_slot[worker.choice[lane]] + outcomes;
      const double least = least_landing(here, slot, c, worker.listed);
      // Where there is nowhere else to land, any value of its own is a floor without effect.
      worker.floor[c * count + lane] =
          std::isfinite(least) ? least : worker.next[0][c * count + lane];
    }
  }
}

void StageEvaluation::gather_floor(int stage, Row row, Worker& worker) const {
  if (by_table(stage)) return gather_landings(stage, row, worker);
  const auto count = worker.lanes.size();
  if (policy_->budget.empty()) {
    const std::int64_t there = floor_memory(stage);
    for (int c = 0; c < channels(); ++c) {
      for (std::size_t lane = 0; lane < count; ++lane)
        worker.floor[c * count + lane] =
            floor_[c * there + kept_memory(*policy_, stage, worker.lanes[lane])];
    }
    return;
  }
  if (mixed_landings_.needed()) {
    for (int c = 0; c < channels(); ++c) {
      const double* least = mixed_landings_.least(row, c);
      for (std::size_t lane = 0; lane < count; ++lane)
        worker.floor[c * count + lane] = least[worker.lanes[lane]];
    }
    return;
  }
  worker.earned.resize(policy_->budget.size());
  earned_on_axes(problem_->model(), policy_->budget, row, -1, worker.earned);
  move_budgets(policy_->budget, stage, worker.earned, worker.range, worker.moves);
  const std::int64_t there = memory_states(policy_->budget, stage + 1);
  for (int c = 0; c < channels(); ++c) {
    for (std::size_t lane = 0; lane < count; ++lane)
      worker.floor[c * count + lane] =
          floor_[c * there + worker.moves.memory[worker.lanes[lane] - worker.range.first]];
  }
}

}  // namespace redoubt::internal
