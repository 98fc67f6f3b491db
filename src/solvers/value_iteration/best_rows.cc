#include "solvers/value_iteration/best_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bellman/large_arrays.h"
#include "bellman/largest_value.h"
#include "bellman/nominal_rows.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

constexpr Row kRowsAtATime = 256;  // rows whose results are kept at a time: in the nearest cache

}  // namespace

BestRows::BestRows(const Problem& problem, Channel channel, Workers& workers, Exchange& exchange,
                   bool least)
    : problem_(&problem),
      channel_(channel),
      group_(&workers),
      exchange_(&exchange),
      least_(least),
      unit_(largest_value(problem.model(), channel.signal, workers)),
      nominal_(is_nominal(problem)),
      best_(best_expected_kernel()) {
  const Model& model = problem.model();
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
  if (!nominal_) return;
  const std::vector<double>& own =
      channel.signal < 0 ? model.arrays().reward : model.arrays().signals[channel.signal].row;
  const bool as_stored =
      channel.sign == 1 && !own.empty() && model.outcome_values(channel.signal).empty();
  if (!as_stored) {
    earned_.resize(model.rows());
    for (Row row = 0; row < model.rows(); ++row) earned_[row] = nominal_earned(model, channel, row);
  }
  begin_nominal(as_stored ? own.data() : earned_.data());
}

BestRows::BestRows(const Problem& problem, std::vector<double> earned, Workers& workers,
                   Exchange& exchange)
    : problem_(&problem),
      group_(&workers),
      exchange_(&exchange),
      least_(false),
      unit_(0),
      nominal_(true),
      best_(best_expected_kernel()),
      earned_(std::move(earned)) {
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
  for (const double value : earned_) unit_ = std::max(unit_, std::abs(value));
  unit_ = max_over_ranks(workers.ranks(), unit_);
  begin_nominal(earned_.data());
}

void BestRows::begin_nominal(const double* earned) {
  for (Worker& worker : workers_) worker.room.resize(problem_->model().most_actions());
  states_ = {nullptr, earned, problem_->discount(), unit_, least_};
}

bool BestRows::exact() const {
  return all_ranks(group_->ranks(), std::all_of(workers_.begin(), workers_.end(),
                                                [](const Worker& w) { return w.exact; }));
}

State BestRows::changed() const {
  State count = 0;
  for (const Worker& worker : workers_) count += worker.changed;
  return count;
}

std::int32_t BestRows::choose(const double* results, std::int64_t count, double& value,
                              bool& exact) const {
  value = least_ ? *std::min_element(results, results + count)
                 : *std::max_element(results, results + count);
  const double noise = kSameWorth * std::max(unit_, std::abs(value));
  std::int32_t action = 0;
  while (std::abs(results[action] - value) > noise) ++action;
  exact &= results[action] == value;
  return action;
}

std::size_t BestRows::slot(int stage) const {
  const Model& model = problem_->model();
  return model.stages() == 1 ? 0 : static_cast<std::size_t>(stage) * model.states();
}

// The rows of a submodel are those of its own states, one after the other.
void BestRows::prepare_nominal(int stage) {
  const Model& model = problem_->model();
  const Row* rows_of_states = model.arrays().state_rows.data() + slot(stage);
  states_.begin = rows_of_states;
  if (model.arrays().submodel) {
    begin_.resize(model.own_states() + 1);
    for (State place = 0; place < model.own_states(); ++place)
      begin_[place] = rows_of_states[model.own(place)];
    begin_.back() = rows_of_states[model.states()];
    states_.begin = begin_.data();
  }
}

Residual BestRows::step(int stage, const std::vector<double>& next, std::vector<double>& values,
                        std::vector<std::int32_t>& actions) {
  sweep(stage, next, values, actions, true);
  Residual residual;
  for (const Worker& worker : workers_) residual.add(worker.residual);
  add_over_ranks(group_->ranks(), residual);
  return residual;
}

void BestRows::sweep(int stage, const std::vector<double>& next, std::vector<double>& values,
                     std::vector<std::int32_t>& actions, bool measure) {
  const Model& model = problem_->model();
  measure_ = measure;
  resize_with_large_pages(values, model.states());
  actions.resize(model.own_states());
  const double floor = workers_.front().batch.needs_floor()
                           ? worst_landing(*problem_, channel_, group_->ranks(), next)
                           : 0;
  for (Worker& worker : workers_) {
    worker.residual = {};
    worker.changed = 0;
  }
  evaluations_ += static_cast<double>(model.arrays().state_rows[slot(stage) + model.states()] -
                                      model.arrays().state_rows[slot(stage)]);
  if (nominal_) prepare_nominal(stage);
  const double work =
      workers_.front().batch.nanoseconds() * static_cast<double>(model.outcomes()) / model.stages();
  exchange_->sweep_ranges(*group_, work, {values.data()}, [&](State begin, State end, int number) {
    Worker& worker = workers_[number];
    if (nominal_) return run_nominal(begin, end, next, values, actions, worker);
    while (begin < end) {
      State last = begin + 1;
      const Row first = model.row_begin(stage, model.own(begin));
      while (last < end && model.row_end(stage, model.own(last)) - first <= kRowsAtATime) ++last;
      run(stage, begin, last, next, floor, values, actions, worker);
      begin = last;
    }
  });
}

void BestRows::step_of(std::span<const State> states, const std::vector<double>& next,
                       double* values, std::int32_t* actions) {
  const Model& model = problem_->model();
  evaluations_ += static_cast<double>(model.rows());
  const double share = static_cast<double>(states.size()) / std::max<State>(1, model.states());
  const double work =
      workers_.front().batch.nanoseconds() * share * static_cast<double>(model.outcomes());
  group_->for_each(static_cast<std::int64_t>(states.size()), work,
                   [&](std::int64_t begin, std::int64_t end, int number) {
                     const auto some = states.subspan(begin, end - begin);
                     run_some(some, next, values + begin, actions + begin, workers_[number]);
                   });
}

void BestRows::run_some(std::span<const State> states, const std::vector<double>& next,
                        double* values, std::int32_t* actions, Worker& worker) const {
  const Model& model = problem_->model();
  if (nominal_) {
    worker.exact &= best_(nominal_rows(model), states_,
                          {.count = static_cast<State>(states.size()), .list = states.data()},
                          next.data(), worker.room.data(), values, actions);
    return;
  }
  worker.rows.clear();
  for (const State state : states) {
    for (Row row = model.row_begin(0, state); row < model.row_end(0, state); ++row)
      worker.rows.push_back(row);
  }
  worker.result.resize(worker.rows.size());
  worker.batch.worst(worker.rows, channel_, next.data(), 0, worker.result.data());
  const double* results = worker.result.data();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Row count = model.row_end(0, states[i]) - model.row_begin(0, states[i]);
    actions[i] = choose(results, count, values[i], worker.exact);
    results += count;
  }
}

void BestRows::run(int stage, State begin, State end, const std::vector<double>& next, double floor,
                   std::vector<double>& values, std::vector<std::int32_t>& actions,
                   Worker& worker) const {
  const Model& model = problem_->model();
  const Row first = model.row_begin(stage, model.own(begin));
  const auto count = model.row_end(stage, model.own(end - 1)) - first;
  worker.result.resize(count);
  worker.batch.worst(first, count, channel_, next.data(), floor, worker.result.data());
  for (State place = begin; place < end; ++place) {
    const State state = model.own(place);
    const Row here = model.row_begin(stage, state), last = model.row_end(stage, state);
    double value = 0;
    const double* results = worker.result.data() + (here - first);
    actions[place] = here < last ? choose(results, last - here, value, worker.exact) : -1;
    values[state] = value;
    worker.residual.add(next[state], value);
    worker.changed += next[state] != value;
  }
}

void BestRows::run_nominal(State begin, State end, const std::vector<double>& next,
                           std::vector<double>& values, std::vector<std::int32_t>& actions,
                           Worker& worker) const {
  const Model& model = problem_->model();
  const SparseRows matrix = nominal_rows(model);
  const bool whole = !model.arrays().submodel;  // places are states
  Residual residual = worker.residual;
  State changed = 0;
  for (State first = begin; first < end; first += kStatesAtATime) {
    const State count = std::min(end - first, kStatesAtATime);
    double result[kStatesAtATime];
    double* to = whole ? values.data() + first : result;
    worker.exact &= best_(matrix, states_, {count, first}, next.data(), worker.room.data(), to,
                          actions.data() + first);
    if (whole && measure_) residual.add(next.data() + first, to, count);
    for (State i = 0; whole && i < count; ++i) changed += next[first + i] != to[i];
    for (State i = 0; !whole && i < count; ++i) {
      const State state = model.own(first + i);
      values[state] = result[i];
      residual.add(next[state], result[i]);
    }
  }
  worker.residual = residual;
  worker.changed += changed;
}

}  // namespace redoubt::internal
