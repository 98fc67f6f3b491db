#include "solvers/value_iteration/best_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bellman/nominal_rows.h"
#include "bellman/over_states.h"
#include "parallel/collectives.h"
#include "support/array_memory.h"

namespace redoubt::internal {
namespace {

static_assert(kStatesAtATime == AlikeStates::kMost);

constexpr Row kRowsAtATime = 256;  // rows whose results are kept at a time: in the nearest cache

// Rows of a state are compared from step to step where they are the same at every stage, and where
// values that rise by at least and at most so much raise what a row is worth by no less and no
// more, which tilt does not promise.
bool can_eliminate(const Problem& problem) {
  return problem.model().stages() == 1 && problem.model().most_actions() > 1 &&
         !std::holds_alternative<Tilt>(problem.uncertainty());
}

}  // namespace

BestRows::BestRows(const Problem& problem, Channel channel, Workers& workers, Exchange& exchange,
                   bool least)
    : problem_(&problem),
      channel_(channel),
      group_(&workers),
      exchange_(&exchange),
      least_(least),
      unit_(largest_value(problem.model(), channel.signal, workers)),
      eliminates_(can_eliminate(problem)),
      measures_(eliminates_ || problem.infinite()),
      nominal_(is_nominal(problem)),
      kernels_{best_alike_kernel(), best_expected_kernel()},
      expected_(expected_values_kernel()) {
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
      eliminates_(can_eliminate(problem)),
      measures_(eliminates_ || problem.infinite()),
      nominal_(true),
      kernels_{best_alike_kernel(), best_expected_kernel()},
      expected_(expected_values_kernel()),
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

State BestRows::sum_of(State Worker::*count) const {
  State sum = 0;
  for (const Worker& worker : workers_) sum += worker.*count;
  return sum;
}

std::int32_t BestRows::choose(std::span<const double> results, double& value, bool& exact) const {
  value = least_ ? *std::min_element(results.begin(), results.end())
                 : *std::max_element(results.begin(), results.end());
  const double noise = kSameWorth * std::max(unit_, std::abs(value));
  std::int32_t action = 0;
  while (std::abs(results[action] - value) > noise) ++action;
  exact &= results[action] == value;
  return action;
}

// By how much the row taken is better than all others.
double BestRows::lead(std::span<const double> results, std::int32_t taken) const {
  double lead = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (static_cast<std::int32_t>(i) == taken) continue;
    lead = std::min(lead, least_ ? results[i] - results[taken] : results[taken] - results[i]);
  }
  return lead;
}

// Two rows move apart by no more than the discounted span of the change, and by rounding. The
// margin is beyond what rows that are worth the same differ by, and beyond the accuracy of a worst
// case.
void BestRows::begin_elimination(const Residual* change) {
  elimination_ = {};
  if (!eliminates_) return;
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  if (change == nullptr || !change->numbers || until_.empty()) {
    until_.assign(problem_->model().own_states(), 0.0);
    drift_ = 0;
    taken_ = {};
    elimination_ = {until_.data(), 0, std::numeric_limits<double>::infinity()};
    return;
  }
  const double size = std::max({unit_, std::abs(change->least), std::abs(change->most)});
  const double noise =
      nominal_ ? 4 * kSameWorth + 4 * kRounding * problem_->model().most_outcomes() : 1e-9;
  drift_ += problem_->discount() * (change->high - change->low) + 4 * kRounding * size;
  elimination_ = {until_.data(), drift_, drift_ + noise * size};
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
  constexpr int kSomeSteps = 8;  // after so many there may be many more
  if (AlikeRows::pay(*problem_) && ++steps_ == kSomeSteps && taken_.begin.empty()) copy_alike();
}

// Where nearly all states have few and short rows, looking at all of them takes less time than
// knowing which need not be looked at.
void BestRows::copy_alike() {
  std::vector<State> places(problem_->model().own_states());
  std::iota(places.begin(), places.end(), 0);
  AlikeRows copy(problem_->model(), states_, places);
  const auto terminal = std::count_if(places.begin(), places.end(), [&](State place) {
    return states_.begin[place] == states_.begin[place + 1];
  });
  if (8 * (copy.others() - terminal) > problem_->model().own_states()) return;
  all_ = std::move(copy);
  eliminates_ = false;
  measures_ = problem_->infinite();
}

void BestRows::copy_of(std::span<const State> states) {
  some_.reset();
  if (AlikeRows::pay(*problem_) && !states.empty())
    some_.emplace(problem_->model(), states_, states);
}

bool BestRows::may_gather(const Problem& problem, int stage) {
  constexpr int kStages = 4;  // that must be left for it to pay
  return is_nominal(problem) && can_eliminate(problem) && !problem.infinite() && stage >= kStages;
}

// When few states are still looked at.
bool BestRows::pays_to_gather(int stage) const {
  constexpr State kFew = 4;  // one state in so many
  return may_gather(*problem_, stage) && kFew * looked_at() < problem_->model().own_states() &&
         taken_.begin.empty();
}

Residual BestRows::step(int stage, const std::vector<double>& next, std::vector<double>& values,
                        std::vector<std::int32_t>& actions, const Residual* change) {
  const Model& model = problem_->model();
  resize_with_large_pages(values, model.states());
  actions.resize(model.own_states(), -1);
  begin_elimination(change);
  const double floor = workers_.front().batch.needs_floor()
                           ? worst_landing(*problem_, channel_, group_->ranks(), next)
                           : 0;
  for (Worker& worker : workers_) {
    worker.residual = {};
    worker.changed = worker.new_actions = worker.looked_at = 0;
  }
  evaluations_ += static_cast<double>(model.arrays().state_rows[slot(stage) + model.states()] -
                                      model.arrays().state_rows[slot(stage)]);
  if (nominal_) prepare_nominal(stage);
  const double work =
      workers_.front().batch.nanoseconds() * static_cast<double>(model.outcomes()) / model.stages();
  exchange_->sweep_ranges(*group_, work, {values.data()}, [&](State begin, State end, int number) {
    Worker& worker = workers_[number];
    if (nominal_) return run_nominal(begin, end, next, values, actions, worker);
    while (begin < end) begin = run(stage, begin, end, next, floor, values, actions, worker);
  });
  if (pays_to_gather(stage)) {
    TakenRows rows;
    take_rows(model, actions, rows);
    find_nominal_chain(model, std::span(states_.earned, model.rows()), rows, taken_);
  }
  Residual residual;
  for (const Worker& worker : workers_) residual.add(worker.residual);
  add_over_ranks(group_->ranks(), residual);
  return residual;
}

void BestRows::step_of(std::span<const State> states, const std::vector<double>& next,
                       double* values, std::int32_t* actions) {
  const Model& model = problem_->model();
  evaluations_ += static_cast<double>(model.rows());
  const double share = static_cast<double>(states.size()) / std::max<State>(1, model.states());
  const double work =
      workers_.front().batch.nanoseconds() * share * static_cast<double>(model.outcomes());
  if (some_) {
    group_->for_each(some_->blocks(), work, [&](std::int64_t begin, std::int64_t end, int number) {
      Worker& worker = workers_[number];
      for (std::int64_t block = begin; block < end; ++block)
        worker.exact &= some_->best(block, kernels_, nominal_rows(model), states_, next.data(),
                                    worker.room.data(), values + block * kStatesAtATime,
                                    actions + block * kStatesAtATime);
    });
    return;
  }
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
    worker.exact &=
        kernels_.any(nominal_rows(model), states_,
                     {.count = static_cast<State>(states.size()), .list = states.data()}, {},
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
  std::span<const double> results = worker.result;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Row count = model.row_end(0, states[i]) - model.row_begin(0, states[i]);
    actions[i] = choose(results.first(count), values[i], worker.exact);
    results = results.subspan(count);
  }
}

// The states from `begin` on whose rows are looked at in one go. Returns the first behind them.
State BestRows::run(int stage, State begin, State end, const std::vector<double>& next,
                    double floor, std::vector<double>& values, std::vector<std::int32_t>& actions,
                    Worker& worker) {
  const Model& model = problem_->model();
  worker.rows.clear();
  State last = begin;
  for (Row room = kRowsAtATime; last < end; ++last) {
    const Row first = model.row_begin(stage, model.own(last));
    const Row rows = model.row_end(stage, model.own(last)) - first;
    const bool skips = elimination_.skips(last);
    room -= skips ? 1 : rows;
    if (last > begin && room < 0) break;
    if (skips)
      worker.rows.push_back(first + actions[last]);
    else
      for (Row row = first; row < first + rows; ++row) worker.rows.push_back(row);
  }
  const auto count = static_cast<Row>(worker.rows.size());
  worker.result.resize(count);
  if (count > 0 && worker.rows.back() - worker.rows.front() == count - 1)
    worker.batch.worst(worker.rows.front(), count, channel_, next.data(), floor,
                       worker.result.data());
  else
    worker.batch.worst(worker.rows, channel_, next.data(), floor, worker.result.data());
  std::span<const double> results = worker.result;
  for (State place = begin; place < last; ++place) {
    const State state = model.own(place);
    const Row rows = model.row_end(stage, state) - model.row_begin(stage, state);
    double value = 0;
    if (elimination_.skips(place)) {
      value = results.front();
      results = results.subspan(1);
    } else {
      const std::int32_t before = actions[place];
      ++worker.looked_at;
      const auto here = results.first(rows);
      actions[place] = rows > 0 ? choose(here, value, worker.exact) : -1;
      worker.new_actions += actions[place] != before;
      if (elimination_.until != nullptr && rows > 0)
        elimination_.until[place] = elimination_.drift + lead(here, actions[place]);
      results = results.subspan(rows);
    }
    values[state] = value;
    worker.residual.add(next[state], value);
    worker.changed += next[state] != value;
  }
  return last;
}

// Of at most kStatesAtATime states, by place.
void BestRows::best_of_block(const StateChoice& block, const double* next, double* values,
                             std::int32_t* actions, Worker& worker) const {
  const SparseRows matrix = nominal_rows(problem_->model());
  const bool gathered = !taken_.begin.empty();
  const bool whole = block.first % kStatesAtATime == 0 &&
                     (block.count == kStatesAtATime ||
                      block.first + block.count == problem_->model().own_states());
  if (all_ && whole) {
    worker.looked_at += block.count;
    worker.exact &= all_->best(block.first / kStatesAtATime, kernels_, matrix, states_, next,
                               worker.room.data(), values, actions);
    return;
  }
  if (!eliminates_) {
    worker.looked_at += block.count;
    worker.exact &=
        kernels_.any(matrix, states_, block, {}, next, worker.room.data(), values, actions);
    return;
  }
  State places[kStatesAtATime], count = 0;
  for (State i = 0; i < block.count; ++i) {
    const State place = block.first + i;
    places[count] = place;
    const bool skips = elimination_.skips(place);
    worker.looked_at += !skips;
    count += !skips || (gathered && actions[i] >= 0 &&
                        taken_.rows[place] != states_.begin[place] + actions[i]);
  }
  if (!gathered) {
    worker.exact &= kernels_.any(matrix, states_, block, elimination_, next, worker.room.data(),
                                 values, actions);
    return;
  }
  expected_({taken_.begin.data(), taken_.next.data(), taken_.probability.data()},
            {.count = block.count, .first = block.first}, taken_.earned.data() + block.first,
            states_.discount, next, values);
  if (count == 0) return;
  double some_values[kStatesAtATime];
  std::int32_t some_actions[kStatesAtATime];
  for (State i = 0; i < count; ++i) some_actions[i] = actions[places[i] - block.first];
  worker.exact &= kernels_.any(matrix, states_, {.count = count, .list = places}, elimination_,
                               next, worker.room.data(), some_values, some_actions);
  for (State i = 0; i < count; ++i) {
    values[places[i] - block.first] = some_values[i];
    actions[places[i] - block.first] = some_actions[i];
  }
}

void BestRows::run_nominal(State begin, State end, const std::vector<double>& next,
                           std::vector<double>& values, std::vector<std::int32_t>& actions,
                           Worker& worker) const {
  const Model& model = problem_->model();
  const bool whole = !model.arrays().submodel;  // places are states
  Residual residual = worker.residual;
  State changed = 0, new_actions = 0;
  for (State first = begin, count = 0; first < end; first += count) {
    // Threads may begin anywhere, blocks of a copy only there.
    count = std::min(end - first, kStatesAtATime - first % kStatesAtATime);
    double result[kStatesAtATime];
    std::int32_t before[kStatesAtATime];
    double* to = whole ? values.data() + first : result;
    std::int32_t* taken = actions.data() + first;
    std::copy_n(taken, count, before);
    best_of_block({count, first}, next.data(), to, taken, worker);
    for (State i = 0; i < count; ++i) new_actions += taken[i] != before[i];
    if (whole && measures_) residual.add(next.data() + first, to, count);
    for (State i = 0; whole && i < count; ++i) changed += next[first + i] != to[i];
    for (State i = 0; !whole && i < count; ++i) {
      const State state = model.own(first + i);
      values[state] = result[i];
      residual.add(next[state], result[i]);
    }
  }
  worker.residual = residual;
  worker.changed += changed;
  worker.new_actions += new_actions;
}

}  // namespace redoubt::internal
