#include "solvers/value_iteration/best_mixtures.h"

#include <algorithm>

#include "policy/stage_builder.h"

namespace redoubt::internal {

BestMixtures::BestMixtures(const Problem& problem, Channel channel, Workers& workers,
                           Exchange& exchange)
    : problem_(&problem),
      channel_(channel),
      group_(&workers),
      exchange_(&exchange),
      weight_(problem.model().rows()) {
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
}

double BestMixtures::evaluations() const {
  double sum = 0;
  for (const Worker& worker : workers_)
    sum += worker.rows.evaluations() + worker.states.evaluations();
  return sum;
}

Residual BestMixtures::step(int stage, const std::vector<double>& next, std::vector<double>& values,
                            Policy::Stage& decisions) {
  const Model& model = problem_->model();
  values.resize(model.states());
  const double floor = workers_.front().rows.needs_floor()
                           ? worst_landing(*problem_, channel_, group_->ranks(), next)
                           : 0;
  for (Worker& worker : workers_) worker.residual = {};
  constexpr double kNanoseconds = 30;  // of an outcome, about
  const double work = kNanoseconds * static_cast<double>(model.outcomes()) / model.stages();
  exchange_->sweep_ranges(*group_, work, {values.data()}, [&](State begin, State end, int number) {
    for (State first = begin; first < end; first += kStatesAtATime)
      run(stage, first, std::min(end, first + kStatesAtATime), {next.data(), floor}, values.data(),
          workers_[number]);
  });
  decisions = decisions_of(stage);
  Residual residual;
  for (const Worker& worker : workers_) residual.add(worker.residual);
  add_over_ranks(group_->ranks(), residual);
  return residual;
}

void BestMixtures::run(int stage, State begin, State end, const NextOfStates& next, double* values,
                       Worker& worker) {
  const Model& model = problem_->model();
  worker.row.clear();
  worker.items.clear();
  for (State place = begin; place < end; ++place) {
    const State state = model.own(place);
    const auto first = static_cast<std::int64_t>(worker.row.size());
    for (Row row = model.row_begin(stage, state); row < model.row_end(stage, state); ++row)
      worker.row.push_back(row);
    const int count = static_cast<int>(static_cast<std::int64_t>(worker.row.size()) - first);
    if (count > 0) worker.items.push_back({first, count, channel_});
  }
  worker.alone.resize(worker.row.size());
  worker.value.resize(worker.items.size());
  std::vector<double> weight(worker.row.size());
  worker.rows.worst(worker.row, channel_, next.values, next.worst_landing, worker.alone.data());
  worker.states.best(worker.items, {worker.row.data(), nullptr}, worker.alone.data(), next,
                     worker.value.data(), weight.data());
  for (std::size_t i = 0; i < weight.size(); ++i) weight_[worker.row[i]] = weight[i];
  auto value = worker.value.begin();
  for (State place = begin; place < end; ++place) {
    const State state = model.own(place);
    const bool decides = model.row_begin(stage, state) < model.row_end(stage, state);
    values[state] = decides ? *value++ : 0.0;
    worker.residual.add(next.values[state], values[state]);
  }
}

Policy::Stage BestMixtures::decisions_of(int stage) const {
  const Model& model = problem_->model();
  StageBuilder builder;
  for (State place = 0; place < model.own_states(); ++place) {
    const State state = model.own(place);
    const Row first = model.row_begin(stage, state);
    for (Row row = first; row < model.row_end(stage, state); ++row) {
      if (weight_[row] > 0) builder.choose(static_cast<std::int32_t>(row - first), weight_[row]);
    }
    builder.end_node();
  }
  return builder.take();
}

}  // namespace redoubt::internal
