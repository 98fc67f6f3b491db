#include "evaluation/stage_evaluation.h"

#include <algorithm>

#include "model/bytes.h"
#include "model/set_traits.h"
#include "parallel/collectives.h"
#include "policy/memory_update.h"
#include "policy/stage_arrays.h"
#include "support/array_memory.h"

namespace redoubt::internal {

StageEvaluation::StageEvaluation(const Problem& problem, const Policy& policy,
                                 std::vector<Channel> channels, Workers& workers,
                                 const StageStore* store)
    : problem_(&problem),
      policy_(&policy),
      channels_(std::move(channels)),
      store_(store),
      group_(&workers),
      exchange_(problem.model(), workers.ranks()),
      mixed_landings_(problem, policy.budget, workers, false),
      all_states_(problem.model().all_states()) {
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
  outcomes_move_ = any_rank(workers.ranks(), outcomes_move_budgets(problem.model(), policy.budget));
  std::vector<double> tables;  // negative: there is one
  for (const Policy::Stage& stage : policy.stages)
    tables.push_back(stage.outcome_slot.empty() ? 0 : -1);
  min_over_ranks(workers.ranks(), tables);
  by_table_.assign(tables.begin(), tables.end());
  if (problem.model().arrays().submodel) find_room();
}

StageEvaluation::Worker::Worker(const Problem& problem) : rows(problem) {
  if (shares_radius(problem)) shared.emplace(problem);
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
  min_over_ranks(group_->ranks(), least);
  for (const double room : least) room_.push_back(static_cast<std::int64_t>(-room));
}

double StageEvaluation::row_evaluations() const {
  double sum = 0;
  for (const Worker& worker : workers_)
    sum += worker.rows.evaluations() + (worker.shared ? worker.shared->evaluations() : 0);
  return sum_over_ranks(group_->ranks(), sum);
}

MemoryPlan StageEvaluation::memory(int stages) const {
  const Model& model = problem_->model();
  std::int64_t layers = 0, landings = 0, room = 1;
  for (int h = 0; h < stages; ++h) {
    layers = std::max(layers, nodes(h) + nodes(h + 1));
    if (model.arrays().submodel) room = std::max(room, first_node(h, 1));
    const auto slots = static_cast<std::int64_t>(policy_->at(h).landing_begin.size());
    if (workers_.front().rows.needs_floor() && policy_->states > 0)
      landings = std::max(landings, slots / policy_->states * all_states_);
  }
  const double others = 1 - static_cast<double>(model.own_states()) / model.states();
  const double bytes = 8.0 * static_cast<double>(layers) * channels();
  return {.model = bytes_of(model),
          .values = bytes * (1 - others),
          .halo = bytes * others + 8.0 * static_cast<double>(landings) * channels() +
                  exchange_.bytes(room * channels()),
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

LayerView StageEvaluation::layer(int stage, Next& values) const {
  const auto all = static_cast<std::int64_t>(values.size()) / channels();
  LayerView layer{values.data(), 1, channels(), all, 1};
  if (problem_->model().arrays().submodel)
    layer.state_stride = layer.count = first_node(stage, 1);  // equally many in every state
  return layer;
}

void StageEvaluation::run(int stage, const Next& next, Next& values, const Finish& finish,
                          KeptNature* kept) {
  const auto all = nodes(stage);
  resize_with_large_pages(values, all * channels());
  load(stage);
  kept_ = kept;
  if (workers_.front().rows.needs_floor()) prepare_floor(stage, next);
  const double work = 5.0 * static_cast<double>(values.size()) * problem_->model().most_outcomes();
  for (Worker& worker : workers_) worker.ahead_of = -1;
  exchange_.sweep(
      *group_, {work}, layer(stage, values), [&](State state, std::int64_t, int number) {
        Worker& worker = workers_[number];
        fetch_decisions(state + 2);
        const auto first = first_node(stage, state), last = first_node(stage, state + 1);
        for (int c = 0; c < channels(); ++c)
          std::fill(values.begin() + c * all + first, values.begin() + c * all + last, 0.0);
        const std::int32_t count = nodes_of(state);
        for (worker.range.first = 0; worker.range.first < count;
             worker.range.first += kMemoryBlock) {
          worker.range.count = std::min(kMemoryBlock, count - worker.range.first);
          run_range(stage, state, next, values, worker);
        }
        finish(state);
      });
}

std::int32_t StageEvaluation::nodes_of(State state) const {
  const State own = problem_->model().own_place(state);
  return static_cast<std::int32_t>(decisions_->end(own) - decisions_->begin(own));
}

// Asks for the decisions of a state before they are needed: they have the order of places, which
// need not be that of the states.
void StageEvaluation::fetch_decisions(State state) const {
  const Model& model = problem_->model();
  if (decisions_->mixed.empty() || state >= model.states() || !model.owns(state)) return;
  fetch(decisions_->mixed.data() + decisions_->begin(model.own_place(state)), nodes_of(state));
}

void StageEvaluation::run_range(int stage, State state, const Next& next, Next& values,
                                Worker& worker) {
  const Model& model = problem_->model();
  const auto actions =
      static_cast<std::int32_t>(model.row_end(stage, state) - model.row_begin(stage, state));
  const auto all = static_cast<std::int64_t>(values.size()) / channels();
  const auto first = first_node(stage, state);
  if (state == worker.ahead_of && worker.range.first == 0)
    std::swap(worker.taken, worker.ahead);
  else
    collect_lanes(stage, state, worker.range, worker.taken);
  worker.ahead_of = -1;
  if (worker.shared) worker.shared->clear();
  // The cells of several budgets lie too far apart to be asked for by one row.
  const bool asks_ahead = is_far_away(next) && policy_->budget.size() <= 1;
  for (std::int32_t action = 0; action < actions; ++action) {
    if (worker.taken.empty(action)) continue;
    worker.lanes = worker.taken.lanes(action);
    worker.weight = worker.taken.weight(action);
    worker.choice = worker.taken.choice(action);
    if (asks_ahead) fetch_after(stage, state, action, next, worker);
    if (worker.shared) {
      gather_row(stage, state, action, next, worker);
      continue;
    }
    evaluate_row(stage, state, action, next, worker);
    const auto count = worker.lanes.size();
    for (int c = 0; c < channels(); ++c) {
      double* sums = values.data() + c * all + first;
      for (std::size_t lane = 0; lane < count; ++lane)
        sums[worker.lanes[lane]] += worker.weight[lane] * worker.result[c * count + lane];
    }
  }
  if (worker.shared) worker.shared->solve(channels_, values.data() + first, all, kept_);
}

// What follows an action, for nodes that are solved when all their actions are there.
void StageEvaluation::gather_row(int stage, State state, std::int32_t action, const Next& next,
                                 Worker& worker) {
  const Model& model = problem_->model();
  const Row row = model.row_begin(stage, state) + action;
  StateNodes::Action& taken = worker.shared->add(row, worker.lanes, worker.weight, worker.choice);
  const auto lanes = worker.lanes.size() * channels_.size();
  taken.next.resize(model.outcome_end(row) - model.outcome_begin(row));
  worker.next.resize(taken.next.size());
  for (std::size_t i = 0; i < taken.next.size(); ++i) {
    taken.next[i].resize(lanes);
    gather(stage, row, static_cast<int>(i), next, worker, taken.next[i].data());
    worker.next[i] = taken.next[i].data();
  }
  if (!worker.rows.needs_floor()) return;
  worker.floor.resize(lanes);
  gather_floor(stage, row, worker);
  taken.floor = worker.floor;
}

void StageEvaluation::collect_lanes(int stage, State state, MemoryRange range,
                                    LanesByAction& taken) const {
  const Model& model = problem_->model();
  const Row actions = model.row_end(stage, state) - model.row_begin(stage, state);
  taken.collect(*decisions_, decisions_->begin(model.own_place(state)), range,
                static_cast<int>(actions));
}

// Asks for the values of the row that is evaluated after this one: of the next action that is
// taken, or of the first one in the next state.
void StageEvaluation::fetch_after(int stage, State state, int action, const Next& next,
                                  Worker& worker) const {
  if (fetch_taken(stage, state, action + 1, worker.taken, next, worker)) return;
  const State after = state + 1;
  if (after >= problem_->model().states() || !problem_->model().owns(after)) return;
  collect_lanes(stage, after, {0, std::min(kMemoryBlock, nodes_of(after))}, worker.ahead);
  worker.ahead_of = after;
  fetch_taken(stage, after, 0, worker.ahead, next, worker);
}

// The first action from this one on that is taken; false where there is none.
bool StageEvaluation::fetch_taken(int stage, State state, int from, const LanesByAction& taken,
                                  const Next& next, Worker& worker) const {
  const Model& model = problem_->model();
  Row row = model.row_begin(stage, state) + from;
  const Row last = model.row_end(stage, state);
  int action = from;
  while (row < last && taken.empty(action)) ++row, ++action;
  if (row >= last) return false;
  const auto lanes = taken.lanes(action);
  std::int64_t low = 0, count = 1;
  if (policy_->budget.size() == 1) {  // budgets keep their order when they move
    worker.earned.resize(1);
    earned_on_axes(model, policy_->budget, row, 0, worker.earned);
    const BudgetAxis& axis = policy_->budget.front();
    low = move_budget(axis, stage, lanes.front(), worker.earned[0]).cell;
    count = move_budget(axis, stage, lanes.back(), worker.earned[0]).cell - low + 1;
  }
  const auto all = static_cast<std::int64_t>(next.size()) / channels();
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
    const auto first = first_node(stage + 1, model.arrays().next[i]) + low;
    for (int c = 0; c < channels(); ++c) fetch(next.data() + c * all + first, count);
  }
  return true;
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
  if (kept_ != nullptr) worker.minimiser.resize((outcomes + 1) * padded_lanes(lanes));
  const double* landing = floor ? worker.floor.data() : nullptr;
  worker.rows.worst(row, channels_, lanes, worker.next.data(), landing, worker.result.data(),
                    kept_ != nullptr ? worker.minimiser.data() : nullptr);
  if (kept_ != nullptr)
    kept_->keep(row, worker.choice, worker.weight, worker.minimiser.data(), landing);
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
  if (policy_->budget.empty()) {
    for (int c = 0; c < channels(); ++c) {
      for (std::size_t lane = 0; lane < count; ++lane)
        target[c * count + lane] =
            next[c * all + first + kept_memory(*policy_, stage, worker.lanes[lane])];
    }
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

}  // namespace redoubt::internal
