#include "solvers/value_iteration/best_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace redoubt::internal {
namespace {

constexpr Row kRowsAtATime = 256;  // rows whose results are kept at a time: in the nearest cache

}  // namespace

BestRows::BestRows(const Problem& problem, Channel channel, Workers& workers, Exchange& exchange,
                   bool least)
    : problem_(&problem), channel_(channel), group_(&workers), exchange_(&exchange), least_(least) {
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
}

double BestRows::evaluations() const {
  double sum = 0;
  for (const Worker& worker : workers_) sum += worker.batch.evaluations();
  return sum;
}

// Of actions that differ by rounding only the first is taken, on every machine.
std::int32_t BestRows::choose(const double* results, std::int64_t count, double& value) const {
  value = least_ ? *std::min_element(results, results + count)
                 : *std::max_element(results, results + count);
  const double noise = 1e-13 * std::max(1.0, std::abs(value));
  std::int32_t action = 0;
  while (std::abs(results[action] - value) > noise) ++action;
  return action;
}

Residual BestRows::step(int stage, const std::vector<double>& next, std::vector<double>& values,
                        std::vector<std::int32_t>& actions) {
  const Model& model = problem_->model();
  values.resize(model.states());
  actions.resize(model.own_states());
  const double floor = workers_.front().batch.needs_floor()
                           ? worst_landing(*problem_, channel_, group_->ranks(), next)
                           : 0;
  for (Worker& worker : workers_) worker.residual = {};
  const auto run = [&](State begin, State end, Worker& worker) {
    const Row first = model.row_begin(stage, model.own(begin));
    const auto count = model.row_end(stage, model.own(end - 1)) - first;
    worker.rows.resize(count);
    worker.result.resize(count);
    std::iota(worker.rows.begin(), worker.rows.end(), first);
    worker.batch.worst(worker.rows, channel_, next.data(), floor, worker.result.data());
    for (State place = begin; place < end; ++place) {
      const State state = model.own(place);
      const Row here = model.row_begin(stage, state), last = model.row_end(stage, state);
      double value = 0;
      const double* results = worker.result.data() + (here - first);
      actions[place] = here < last ? choose(results, last - here, value) : -1;
      values[state] = value;
      worker.residual.add(next[state], value);
    }
  };
  const double work =
      workers_.front().batch.nanoseconds() * static_cast<double>(model.outcomes()) / model.stages();
  exchange_->sweep_ranges(*group_, work, {values.data()}, [&](State begin, State end, int number) {
    while (begin < end) {
      State last = begin + 1;
      const Row first = model.row_begin(stage, model.own(begin));
      while (last < end && model.row_end(stage, model.own(last)) - first <= kRowsAtATime) ++last;
      run(begin, last, workers_[number]);
      begin = last;
    }
  });
  Residual residual;
  for (const Worker& worker : workers_) residual.add(worker.residual);
  agree(group_->ranks(), residual);
  return residual;
}

}  // namespace redoubt::internal
