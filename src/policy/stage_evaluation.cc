#include "policy/stage_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/agree.h"
#include "model/bytes.h"
#include "model/part.h"
#include "model/require.h"
#include "policy/bytes.h"
#include "policy/moves.h"
#include "sweep/large_arrays.h"

namespace redoubt {

StageEvaluation::StageEvaluation(const Problem& problem, const Policy& policy,
                                 std::vector<Channel> channels, Workers& workers,
                                 const StageStore* store)
    : problem_(&problem),
      policy_(&policy),
      channels_(std::move(channels)),
      store_(store),
      group_(&workers),
      exchange_(problem.model(), workers.ranks()),
      mixed_landings_(problem, policy.budget, workers),
      all_states_(problem.model().all_states()) {
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
  outcomes_move_ = any_rank(workers.ranks(), outcomes_move_budgets(problem.model(), policy.budget));
  std::vector<double> tables;  // negative: there is one
  for (const Policy::Stage& stage : policy.stages)
    tables.push_back(stage.outcome_slot.empty() ? 0 : -1);
  agree_on_least(workers.ranks(), tables);
  by_table_.assign(tables.begin(), tables.end());
  if (problem.model().arrays().part) find_room();
}

void StageEvaluation::find_room() {
  std::vector<double> least;  // of the negative
  for (const Policy::Stage& stage : policy_->stages) {
    std::int64_t most = stage.memory;
    if (!stage.node_begin.empty()) {
      for (State s = 0; s < policy_->states; ++s)
        most = std::max(most, stage.end(s) - stage.begin(s));
    }
    least.push_back(-static_cast<double>(most));
  }
  agree_on_least(group_->ranks(), least);
  for (const double room : least) room_.push_back(static_cast<std::int64_t>(-room));
}

double StageEvaluation::row_evaluations() const {
  double sum = 0;
  for (const Worker& worker : workers_) sum += worker.rows.evaluations();
  return agree_on_sum(group_->ranks(), sum);
}

MemoryPlan StageEvaluation::memory(int stages) const {
  const Model& model = problem_->model();
  std::int64_t layers = 0, landings = 0;
  for (int h = 0; h < stages; ++h) {
    layers = std::max(layers, nodes(h) + nodes(h + 1));
    const auto slots = static_cast<std::int64_t>(policy_->at(h).landing_begin.size());
    if (workers_.front().rows.needs_floor() && policy_->states > 0)
      landings = std::max(landings, slots / policy_->states * all_states_);
  }
  const double others = 1 - static_cast<double>(model.own_states()) / model.states();
  const double bytes = 8.0 * static_cast<double>(layers) * channels();
  return {.model = bytes_of(model),
          .values = bytes * (1 - others),
          .halo = bytes * others + 8.0 * static_cast<double>(landings) * channels(),
          .policy = bytes_of(*policy_)};
}

std::int64_t StageEvaluation::nodes(int stage) const {
  return first_node(stage, problem_->model().states());
}

std::int64_t StageEvaluation::first_node(int stage, State state) const {
  const bool decides = stage < static_cast<int>(policy_->stages.size()) || policy_->repeats_last;
  if (decides && !room_.empty()) return state * room_[policy_->stage_index(stage)];
  if (decides && !policy_->at(stage).node_begin.empty())
    return policy_->at(stage).node_begin[state];
  const auto memory = decides ? policy_->at(stage).memory : memory_states(policy_->budget, stage);
  return std::int64_t{state} * memory;
}

void StageEvaluation::load(int stage) {
  decisions_ = &policy_->at(stage);
  if (store_ == nullptr || !decisions_->mixed.empty() || !decisions_->choice_begin.empty()) return;
  stored_ = store_->get(policy_->stage_index(stage));
  decisions_ = &stored_;
}

void StageEvaluation::run(int stage, const Next& next, Next& values, const Finish& finish) {
  const auto all = nodes(stage);
  resize_with_large_pages(values, all * channels());
  std::fill(values.begin(), values.end(), 0.0);
  load(stage);
  if (workers_.front().rows.needs_floor()) prepare_floor(stage, next);
  const double work = 5.0 * static_cast<double>(values.size()) * problem_->model().most_outcomes();
  LayerView layer{values.data(), 1, channels(), all, 1};
  if (problem_->model().arrays().part)
    layer.state_stride = layer.count = first_node(stage, 1);  // equally many in every state
  exchange_.sweep(*group_, {work}, layer, [&](State state, std::int64_t, int worker) {
    MemoryRange& range = workers_[worker].range;
    const State own = problem_->model().own_place(state);
    fetch_decisions(state + 1);
    const auto memory = static_cast<std::int32_t>(decisions_->end(own) - decisions_->begin(own));
    for (range.first = 0; range.first < memory; range.first += kMemoryBlock) {
      range.count = std::min(kMemoryBlock, memory - range.first);
      run_range(stage, state, next, values, workers_[worker]);
    }
    finish(state);
  });
}

// Asks for the decisions of a state before they are needed: they have the order of places, which
// need not be that of the states.
void StageEvaluation::fetch_decisions(State state) const {
  const Model& model = problem_->model();
  if (decisions_->mixed.empty() || state >= model.states() || !model.owns(state)) return;
  const State own = model.own_place(state);
  fetch(decisions_->mixed.data() + decisions_->begin(own),
        decisions_->end(own) - decisions_->begin(own));
}

void StageEvaluation::run_range(int stage, State state, const Next& next, Next& values,
                                Worker& worker) {
  const Model& model = problem_->model();
  const auto actions =
      static_cast<std::int32_t>(model.row_end(stage, state) - model.row_begin(stage, state));
  const auto all = static_cast<std::int64_t>(values.size()) / channels();
  const auto first = first_node(stage, state);
  for (std::int32_t action = 0; action < actions; ++action) {
    collect_lanes(state, action, worker);
    if (worker.lanes.empty()) continue;
    evaluate_row(stage, state, action, next, worker);
    const auto count = worker.lanes.size();
    for (int c = 0; c < channels(); ++c) {
      for (std::size_t lane = 0; lane < count; ++lane) {
        values[c * all + first + worker.lanes[lane]] +=
            worker.weight[lane] * worker.result[c * count + lane];
      }
    }
  }
}

void StageEvaluation::collect_lanes(State state, std::int32_t action, Worker& worker) const {
  const Policy::Stage& here = *decisions_;
  const State own = problem_->model().own_place(state);
  worker.lanes.clear();
  worker.weight.clear();
  worker.choice.clear();
  const auto first = here.begin(own) + worker.range.first;
  for (auto n = first; n < first + worker.range.count; ++n) {
    auto position = here.mixed.empty() ? here.choice_begin[n] : n;
    for_each_choice(here, n, [&](std::int32_t taken, double weight) {
      if (taken == action && weight > 0) {
        worker.lanes.push_back(static_cast<std::int32_t>(n - here.begin(own)));
        worker.weight.push_back(weight);
        worker.choice.push_back(position);
      }
      ++position;
    });
  }
}

void StageEvaluation::evaluate_row(int stage, State state, std::int32_t action, const Next& next,
                                   Worker& worker) {
  const Model& model = problem_->model();
  const Row row = model.row_begin(stage, state) + action;
  const int outcomes = static_cast<int>(model.outcome_end(row) - model.outcome_begin(row));
  const int lanes = static_cast<int>(worker.lanes.size()) * channels();
  worker.next.resize(outcomes);
  for (int i = 0; i < outcomes; ++i) {
    double* target = worker.rows.buffer(i, lanes);
    gather(stage, row, i, next, worker, target);
    worker.next[i] = target;
  }
  const bool floor = worker.rows.needs_floor();
  if (floor) {
    worker.floor.resize(padded_lanes(lanes));
    gather_floor(stage, row, worker);
  }
  worker.result.resize(padded_lanes(lanes));
  worker.rows.worst(row, channels_, lanes, worker.next.data(),
                    floor ? worker.floor.data() : nullptr, worker.result.data());
}

void StageEvaluation::gather(int stage, Row row, int outcome, const Next& next, Worker& worker,
                             double* target) const {
  const Model& model = problem_->model();
  const auto all = static_cast<std::int64_t>(next.size()) / channels();
  const auto count = worker.lanes.size();
  const auto first = first_node(stage + 1, model.arrays().next[model.outcome_begin(row) + outcome]);
  if (by_table(stage)) {
    const Policy::Stage& here = policy_->at(stage);
    for (int c = 0; c < channels(); ++c) {
      for (std::size_t lane = 0; lane < count; ++lane) {
        const auto slot = here.outcome_slot[worker.choice[lane]] + outcome;
        double sum = 0;
        for (auto m = here.move_begin[slot]; m < here.move_begin[slot + 1]; ++m) {
          sum += here.moves[m].weight * next[c * all + first + here.moves[m].memory];
        }
        target[c * count + lane] = sum;
      }
    }
    return;
  }
  if (policy_->budget.empty()) {  // nothing to remember: memory state 0
    for (int c = 0; c < channels(); ++c)
      std::fill_n(target + c * count, count, next[c * all + first]);
    return;
  }
  if (outcome == 0 || outcomes_move_) {
    worker.earned.resize(policy_->budget.size());
    earned_on_axes(model, policy_->budget, row, outcome, worker.earned);
    move_budgets(policy_->budget, stage, worker.earned, worker.range, worker.moves);
  }
  const BudgetMoves& moves = worker.moves;
  const std::int32_t* lanes = worker.lanes.data();
  for (int c = 0; c < channels(); ++c) {
    const double* values = next.data() + c * all + first;
    double* sums = target + c * count;
    if (moves.corners == 1) {
      for (std::size_t lane = 0; lane < count; ++lane)
        sums[lane] = values[moves.memory[lanes[lane] - worker.range.first]];
      continue;
    }
    std::fill_n(sums, count, 0.0);
    for (int corner = 0; corner < moves.corners; ++corner) {
      for (std::size_t lane = 0; lane < count; ++lane) {
        const auto at =
            std::int64_t{corner} * worker.range.count + lanes[lane] - worker.range.first;
        sums[lane] += moves.weight[at] * values[moves.memory[at]];
      }
    }
  }
}

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
  plans_ = static_cast<std::int64_t>(agree_on_max(ranks, static_cast<double>(plans)));
  std::vector<double> values(plans_ * channels() * own, 0.0);
  for (int c = 0; c < channels(); ++c) {
    for (std::int64_t slot = 0; slot < plans_ * own; ++slot) {
      const auto first = first_node(stage + 1, model.own(static_cast<State>(slot % own)));
      for (auto m = here.landing_begin[slot]; m < here.landing_begin[slot + 1]; ++m) {
        values[c * plans_ * own + slot] +=
            here.landing_moves[m].weight * next[c * all + first + here.landing_moves[m].memory];
      }
    }
  }
  if (!model.arrays().part) {
    floor_ = std::move(values);
    return;
  }
  values = gather_lists(ranks, std::move(values));  // [rank][channel][plan][state]
  std::vector<State> mine;
  for (State s = 0; s < model.own_states(); ++s) mine.push_back(whole_number(model, model.own(s)));
  const std::vector<State> states = gather_lists(ranks, std::move(mine));
  floor_.resize(values.size());
  const double* from = values.data();
  auto first = states.begin();
  for (const State count : gather_value(ranks, model.own_states())) {
    for (std::int64_t plan = 0; plan < plans_ * channels(); ++plan) {
      for (State s = 0; s < count; ++s) floor_[plan * all_states_ + first[s]] = *from++;
    }
    first += count;
  }
}

// What the least-valued landing is worth, once for all rows of a stage: by budget cell, or by
// landing plan and state.
void StageEvaluation::prepare_floor(int stage, const Next& next) {
  if (by_table(stage)) return prepare_landings(stage, next);
  const auto all = static_cast<std::int64_t>(next.size()) / channels();
  if (draws_budgets(policy_->budget))
    return mixed_landings_.find(stage, channels(), [&](int c, State s) {
      return next.data() + c * all + first_node(stage + 1, s);
    });
  const auto memory = memory_states(policy_->budget, stage + 1);
  floor_.assign(std::int64_t{memory} * channels(), std::numeric_limits<double>::infinity());
  for (int c = 0; c < channels(); ++c) {
    for (State s = 0; s < problem_->model().states(); ++s) {
      const double* values = next.data() + c * all + first_node(stage + 1, s);
      for (std::int32_t m = 0; m < memory; ++m)
        floor_[c * memory + m] = std::min(floor_[c * memory + m], values[m]);
    }
  }
  agree_on_least(group_->ranks(), floor_);
  // Of 0 and -0 the least is the first: which one that is must not depend on the order of states.
  for (double& least : floor_) least += 0.0;
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
    for (int c = 0; c < channels(); ++c)
      std::fill_n(worker.floor.data() + c * count, count, floor_[c]);
    return;
  }
  if (draws_budgets(policy_->budget)) {
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

}  // namespace redoubt
