#include "solvers/rcvi/budget_sweep.h"

#include <algorithm>

#include "bellman/over_states.h"
#include "model/set_traits.h"
#include "numerics/kernels.h"
#include "parallel/collectives.h"
#include "support/array_memory.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// Requirements are compared with sums of rounded numbers: a shortfall of this share is rounding,
// not a broken requirement.
constexpr double kRoundingNoise = 1e-11;

}  // namespace

BudgetSweep::BudgetSweep(const Problem& problem, std::span<const BudgetAxis> axes, int stages,
                         Fallback fallback, Workers& workers)
    : problem_(&problem),
      axes_(axes),
      stages_(stages),
      channels_{Channel{}},
      fallback_(fallback),
      group_(&workers),
      exchange_(problem.model(), workers.ranks()),
      shapes_(problem, axes, workers.ranks()),
      landings_(problem, axes, workers, true) {
  Communicator& ranks = workers.ranks();
  for (const BudgetAxis& axis : axes) channels_.push_back({axis.signal, axis.sign});
  arrays_ = static_cast<int>(channels_.size());
  const double actions = max_over_ranks(ranks, problem.model().most_actions());
  require(actions <= 256, "{} actions in one state, this method takes at most 256", actions);
  std::vector<double> units;
  for (const BudgetAxis& axis : axes) units.push_back(axis.size());
  for (int w = 0; w < workers.count(); ++w) {
    workers_.emplace_back(problem, BudgetDecision(fallback, units));
    if (shares_radius(problem))
      workers_.back().mixture.emplace(problem, channels_, fallback, units);
  }
  shape_layer(stages, next_);
}

double BudgetSweep::own_evaluations() const {
  double sum = evaluations_before_;
  for (const Worker& worker : workers_)
    sum += worker.rows.evaluations() + (worker.mixture ? worker.mixture->evaluations() : 0);
  return sum;
}

double BudgetSweep::row_evaluations() const {
  return sum_over_ranks(group_->ranks(), own_evaluations());
}

void BudgetSweep::visit(Archive& archive, int stage) {
  const Model& model = problem_->model();
  shape_layer(stage, next_);
  const std::int64_t each = arrays_ * next_.stride;
  archive.visit_states("values", each,
                       [&](State own) { return lanes(next_, 0, model.own(own)) - next_.before; });
  double evaluations = own_evaluations();
  archive.visit_sum("row_evaluations", evaluations);
  evaluations_before_ += evaluations - own_evaluations();
}

void BudgetSweep::take_from_others() {
  exchange_.update(view(next_));
  fill_halos_of_others(next_);
}

// Shapes a layer for a stage, reusing its memory; what it held before is void, except that terminal
// states are worth nothing.
void BudgetSweep::shape_layer(int stage, Layer& layer) const {
  const Model& model = problem_->model();
  const BudgetLanes::Shape shape = shapes_.at(stage);
  layer.lanes = static_cast<int>(shape.lanes);
  layer.before = static_cast<int>(shape.before);
  layer.after = static_cast<int>(shape.after);
  layer.stride = shape.stride;
  resize_with_large_pages(layer.values,
                          (std::int64_t{model.states()} + 1) * arrays_ * layer.stride);
  const bool end = stage == stages_;
  for (State s = 0; s < model.states(); ++s) {
    if (!end && (!model.owns(s) || model.row_begin(stage, s) < model.row_end(stage, s))) continue;
    std::fill_n(lanes(layer, 0, s) - layer.before, arrays_ * layer.stride, 0.0);
  }
}

void BudgetSweep::find_thresholds(int stage) {
  const auto padded = padded_lanes(here_.lanes);
  threshold_.resize(axes_.size() * padded);
  int inner = here_.lanes;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const BudgetAxis& axis = axes_[a];
    inner /= axis.cells[stage];
    for (int lane = 0; lane < here_.lanes; ++lane) {
      const double required =
          axis.requirement(stage, lane / inner % axis.cells[stage]) - axis.slack[stage];
      threshold_[a * padded + lane] = required - kRoundingNoise * axis.size();
    }
  }
}

void BudgetSweep::step(int stage, Policy::Stage& decisions) {
  const Model& model = problem_->model();
  shape_layer(stage, here_);
  decisions.memory = here_.lanes;
  find_thresholds(stage);
  const std::int32_t range = axes_.size() > 1 ? std::min(here_.lanes, kMemoryBlock) : here_.lanes;
  const std::int64_t ranges = (here_.lanes + range - 1) / range;
  const bool lists = by_lists();
  if (lists)
    decisions_.assign(model.own_states() * ranges, {});
  else
    decisions.mixed.edit().assign(std::int64_t{model.own_states()} * here_.lanes, {});
  if (workers_.front().rows.needs_floor()) find_floor(stage);
  const double work = 5.0 * static_cast<double>(model.outcomes()) / model.stages() * arrays_ *
                      padded_lanes(here_.lanes);
  const auto body = [&](State state, std::int64_t piece, int number) {
    Worker& worker = workers_[number];
    worker.range.first = static_cast<std::int32_t>(piece) * range;
    worker.range.count = std::min(range, here_.lanes - worker.range.first);
    step_range(stage, state, decisions, worker);
    if (lists) decisions_[model.own_place(state) * ranges + piece] = worker.decisions;
  };
  exchange_.sweep(*group_, {work, ranges}, view(here_), body);
  fill_halos_of_others(here_);
  if (lists) store_decisions(decisions_, decisions);
  std::swap(next_, here_);
}

void BudgetSweep::step_range(int stage, State state, Policy::Stage& decisions, Worker& worker) {
  const Model& model = problem_->model();
  const Row first = model.row_begin(stage, state), last = model.row_end(stage, state);
  const int actions = static_cast<int>(last - first);
  if (worker.mixture) {
    lend_rows(stage, first, actions, worker);
    decide_lists(state, actions, worker);
    return fill_halo(here_, state);
  }
  const std::int64_t block = std::int64_t{arrays_} * padded_lanes(worker.range.count);
  worker.q.resize(actions * block);
  for (int a = 0; a < actions; ++a) {
    if (is_far_away(next_.values)) fetch_row(stage, first + a + 1, worker);
    evaluate_row(stage, first + a, worker.q.data() + a * block, worker);
  }
  if (by_lists()) return decide_lists(state, actions, worker);
  // Decisions have the order of places, which need not be that of the states: where the next ones
  // go is asked for ahead.
  if (state + 1 < model.states() && model.owns(state + 1))
    fetch(decisions.mixed.data() + std::int64_t{model.own_place(state + 1)} * here_.lanes,
          here_.lanes);
  if (actions == 0) return;  // terminal: worth nothing
  decide(state, actions, decisions, worker);
  fill_halo(here_, state);
}

// The next values of every outcome, and how budgets move in a landing.
void BudgetSweep::find_next(int stage, Row row, Worker& worker) {
  const Model& model = problem_->model();
  const int outcomes = static_cast<int>(model.outcome_end(row) - model.outcome_begin(row));
  const State* next = model.arrays().next.data() + model.outcome_begin(row);
  const auto padded = padded_lanes(worker.range.count);
  worker.next.resize(std::int64_t{outcomes} * arrays_);
  for (int i = 0; i < outcomes; ++i) {
    if (i == 0 || shapes_.outcomes_move()) move(stage, row, i, worker);
    double* buffer = shapes_.by_shift() ? nullptr : worker.rows.buffer(i, arrays_ * padded);
    for (int array = 0; array < arrays_; ++array) {
      worker.next[array * outcomes + i] =
          moved(array, next[i], worker, buffer ? buffer + array * padded : nullptr);
    }
  }
  if (worker.rows.needs_floor()) move(stage, row, -1, worker);
}

// Of the utility, where rounding up is a shift of the lanes.
double BudgetSweep::lost_by_rounding(int stage, const Worker& worker) const {
  if (!shapes_.by_shift() || axes_[0].exact) return 0;
  return move_budget(axes_[0], stage, 0, worker.earned[0]).loss;
}

void BudgetSweep::evaluate_row(int stage, Row row, double* q, Worker& worker) {
  const Model& model = problem_->model();
  const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
  const auto padded = padded_lanes(worker.range.count);
  find_next(stage, row, worker);
  for (int array = 0; array < arrays_; ++array) {
    const double* floor = worker.rows.needs_floor() ? moved_floor(array, row, worker) : nullptr;
    worker.rows.worst(row, {&channels_[array], 1}, worker.range.count,
                      worker.next.data() + array * outcomes, floor, q + array * padded);
  }
  if (const double loss = lost_by_rounding(stage, worker); loss != 0) {
    for (int lane = 0; lane < here_.lanes; ++lane) q[padded + lane] -= loss;
  }
}

// Hands the next values of a state's rows to the decision that needs all of them.
void BudgetSweep::lend_rows(int stage, Row first, int actions, Worker& worker) {
  const Model& model = problem_->model();
  worker.mixture->begin(first, actions, worker.range.count);
  for (int a = 0; a < actions; ++a) {
    const Row row = first + a;
    const int outcomes = static_cast<int>(model.outcome_end(row) - model.outcome_begin(row));
    find_next(stage, row, worker);
    for (int array = 0; array < arrays_; ++array) {
      for (int i = 0; i < outcomes; ++i)
        worker.mixture->set_next(a, array, i, worker.next[array * outcomes + i]);
      if (worker.rows.needs_floor())
        worker.mixture->set_next(a, array, outcomes, moved_floor(array, row, worker));
    }
    worker.mixture->set_less(a, 1, lost_by_rounding(stage, worker));
  }
}

// Asks for the next values of a row before they are needed: the row after the one at hand, which is
// nearly always the next one to be evaluated.
void BudgetSweep::fetch_row(int stage, Row row, Worker& worker) const {
  const Model& model = problem_->model();
  if (!shapes_.by_shift() || row >= model.rows()) return;
  move(stage, row, 0, worker);
  const State* next = model.arrays().next.data();
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
    for (int array = 0; array < arrays_; ++array)
      fetch(lanes(next_, array, next[i]) + worker.shift, worker.range.count);
  }
}

// How the budgets move in a step with this outcome; -1 is a landing.
void BudgetSweep::move(int stage, Row row, std::int64_t outcome, Worker& worker) const {
  worker.earned.resize(axes_.size());
  earned_on_axes(problem_->model(), axes_, row, outcome, worker.earned);
  if (shapes_.by_shift())
    worker.shift = shapes_.shift(stage, worker.earned[0]);
  else
    move_budgets(axes_, stage, worker.earned, worker.range, worker.moves);
}

// The next stage's values of one state as seen from the lanes of this stage, after the step
// described by `worker`. What rounding up added to a requirement counts as not earned, as in the
// paper, where the utility of a budget is known from the budget alone.
const double* BudgetSweep::moved(int array, State state, const Worker& worker,
                                 double* buffer) const {
  const double* values = lanes(next_, array, state);
  if (shapes_.by_shift()) return values + worker.shift;
  const BudgetMoves& moves = worker.moves;
  const std::int64_t count = worker.range.count;
  if (moves.corners == 1) {
    for (int lane = 0; lane < count; ++lane) buffer[lane] = values[moves.memory[lane]];
    if (array == 0) return buffer;
    const double* loss = moves.loss.data() + (array - 1) * count;
    for (int lane = 0; lane < count; ++lane) buffer[lane] -= loss[lane];
    return buffer;
  }
  std::fill_n(buffer, count, 0.0);
  for (int corner = 0; corner < moves.corners; ++corner) {
    const auto* memory = moves.memory.data() + corner * count;
    const auto* weight = moves.weight.data() + corner * count;
    for (int lane = 0; lane < count; ++lane) buffer[lane] += weight[lane] * values[memory[lane]];
  }
  return buffer;
}

// The same for the worst landing.
const double* BudgetSweep::moved_floor(int array, Row row, Worker& worker) const {
  if (landings_.needed()) return landings_.least(row, array) + worker.range.first;
  worker.floor.resize(padded_lanes(worker.range.count));
  return moved(array, problem_->model().states(), worker, worker.floor.data());
}

void BudgetSweep::decide(State state, int actions, Policy::Stage& decisions, Worker& worker) {
  const auto padded = padded_lanes(here_.lanes);
  const std::int64_t own = problem_->model().own_place(state);
  MixedChoice* choices = decisions.mixed.edit().data() + own * here_.lanes;
  worker.reward.resize(actions);
  worker.utility.resize(actions);
  for (int a = 0; a < actions; ++a) {
    worker.reward[a] = worker.q.data() + std::int64_t{a} * arrays_ * padded;
    worker.utility[a] = worker.reward[a] + padded;
  }
  best_mix({actions, here_.lanes, worker.reward.data(), worker.utility.data(), threshold_.data(),
            fallback_ == Fallback::utility},
           {choices, lanes(here_, 0, state), lanes(here_, 1, state)});
}

void BudgetSweep::decide_lists(State state, int actions, Worker& worker) {
  worker.decisions.clear();
  if (actions == 0) {  // terminal: worth nothing, nothing to decide
    worker.decisions.count.assign(worker.range.count, 0);
    return;
  }
  const std::int64_t stride = padded_lanes(worker.range.count), all = padded_lanes(here_.lanes);
  worker.required.resize(axes_.size());
  worker.value.resize(arrays_);
  for (int m = 0; m < worker.range.count; ++m) {
    const std::int64_t lane = worker.range.first + m;
    for (std::size_t a = 0; a < axes_.size(); ++a)
      worker.required[a] = threshold_[static_cast<std::int64_t>(a) * all + lane];
    if (worker.mixture)
      worker.mixture->decide(m, worker.required, worker.value, worker.decisions);
    else
      worker.decision.decide(worker.q.data() + m, actions, stride, worker.required, worker.value,
                             worker.decisions);
    for (int array = 0; array < arrays_; ++array)
      lanes(here_, array, state)[lane] = worker.value[array];
  }
}

LayerView BudgetSweep::view(Layer& layer) const {
  return {lanes(layer, 0, 0), arrays_ * layer.stride, arrays_, layer.stride, layer.lanes};
}

void BudgetSweep::fill_halo(Layer& layer, State state) const {
  for (int array = 0; array < arrays_; ++array) {
    double* values = lanes(layer, array, state);
    std::fill(values - layer.before, values, values[0]);
    const auto end = values - layer.before + layer.stride;
    std::fill(values + layer.lanes, end, values[layer.lanes - 1]);
  }
}

// Their values come without.
void BudgetSweep::fill_halos_of_others(Layer& layer) const {
  const Model& model = problem_->model();
  for (State s = 0; s < model.states(); ++s) {
    if (!model.owns(s)) fill_halo(layer, s);
  }
}

void BudgetSweep::find_floor(int stage) {
  if (landings_.needed())
    return landings_.find(stage, channels_,
                          [&](int array, State s) { return lanes(next_, array, s); });
  const State states = problem_->model().states();
  for (int array = 0; array < arrays_; ++array) {
    const auto values_of = [&](State s) { return lanes(next_, array, s) - next_.before; };
    double* least = lanes(next_, array, states) - next_.before;
    const auto worth_of = [&](State s) { return arrival_worth(*problem_, channels_[array], s); };
    min_over_states(*group_, states, values_of, worth_of,
                    {least, static_cast<std::size_t>(next_.stride)});
  }
}

}  // namespace redoubt::internal
