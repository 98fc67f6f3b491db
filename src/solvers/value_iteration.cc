#include "solvers/value_iteration.h"

#include <algorithm>
#include <cmath>

#include "model/agree.h"
#include "policy/chance_value.h"
#include "solvers/finish.h"
#include "sweep/exchange.h"

namespace redoubt {
namespace {

class Sweep {
 public:
  Sweep(const Problem& problem, Channel channel, Workers& workers, bool least)
      : problem_(problem),
        channel_(channel),
        group_(workers),
        exchange_(problem.model(), workers.ranks()),
        least_(least) {
    for (int w = 0; w < workers.count(); ++w) rows_.emplace_back(problem);
  }

  // values = best of the actions given what the next stage is worth; actions = which one it was.
  void step(int stage, const std::vector<double>& next, std::vector<double>& values,
            std::vector<std::int32_t>& actions) {
    const Model& model = problem_.model();
    values.assign(model.states(), 0.0);
    actions.assign(model.own_states(), -1);
    const double floor = agree_on_min(group_.ranks(), *std::min_element(next.begin(), next.end()));
    const double work = 40.0 * static_cast<double>(model.outcomes()) / model.stages();
    exchange_.sweep(group_, {work}, {values.data()}, [&](State state, std::int64_t, int worker) {
      std::int32_t& best = actions[state - model.own_begin()];
      for (Row row = model.row_begin(stage, state); row < model.row_end(stage, state); ++row) {
        const double q = worst(row, next, floor, rows_[worker]);
        // Of actions that differ by rounding only the first counts, on every machine.
        const double noise = 1e-13 * std::max(1.0, std::abs(q));
        if (best >= 0 && (least_ ? q >= values[state] - noise : q <= values[state] + noise))
          continue;
        values[state] = q;
        best = static_cast<std::int32_t>(row - model.row_begin(stage, state));
      }
    });
  }

  double row_evaluations() const {
    double sum = 0;
    for (const RowEvaluator& rows : rows_) sum += rows.evaluations();
    return agree_on_sum(group_.ranks(), sum);
  }

 private:
  double worst(Row row, const std::vector<double>& next, double floor, RowEvaluator& rows) const {
    const Model& model = problem_.model();
    const int outcomes = static_cast<int>(model.outcome_end(row) - model.outcome_begin(row));
    thread_local std::vector<const double*> pointers;
    pointers.resize(outcomes);
    for (int i = 0; i < outcomes; ++i) {
      double* buffer = rows.buffer(i, 1);
      std::fill_n(buffer, kLaneBlock, next[model.arrays().next[model.outcome_begin(row) + i]]);
      pointers[i] = buffer;
    }
    double floors[kLaneBlock], result[kLaneBlock];
    std::fill_n(floors, kLaneBlock, floor);
    rows.worst(row, {&channel_, 1}, 1, pointers.data(), rows.needs_floor() ? floors : nullptr,
               result);
    return result[0];
  }

  const Problem& problem_;
  Channel channel_;
  Workers& group_;
  Exchange exchange_;
  bool least_;
  std::vector<RowEvaluator> rows_;
};

Policy::Stage pure_stage(const std::vector<std::int32_t>& actions) {
  Policy::Stage stage;
  stage.choice_begin.push_back(0);
  for (const std::int32_t action : actions) {
    if (action >= 0) stage.choice_action.push_back(action), stage.choice_weight.push_back(1.0);
    stage.choice_begin.push_back(static_cast<std::int64_t>(stage.choice_action.size()));
  }
  return stage;
}

}  // namespace

double ValueIteration::at(const Start& start) const {
  double sum = 0;
  for (std::size_t i = 0; i < start.states.size(); ++i)
    sum += start.probability[i] * values.front()[start.states[i]];
  return sum;
}

ValueIteration value_iteration(const Problem& problem, Channel channel, Workers& workers,
                               const Execution& execution, bool least) {
  const Stopwatch watch;
  Sweep sweep(problem, channel, workers, least);
  ValueIteration result;
  Communicator& ranks = workers.ranks();
  result.policy.states = problem.model().own_states();
  result.policy.repeats_last = problem.infinite();
  std::vector<double> next(problem.model().states(), 0.0), values;
  std::vector<std::int32_t> actions;
  if (!problem.infinite()) {
    const int horizon = problem.horizon();
    result.values.assign(horizon + 1, next);
    result.policy.stages.resize(horizon);
    for (int h = horizon; h-- > 0 && !result.stopped;) {
      result.stopped = watch.stop(execution, ranks, 1 - (h + 1.0) / horizon);
      sweep.step(h, result.values[h + 1], result.values[h], actions);
      result.policy.stages[h] = pure_stage(actions);
      ++result.sweeps;
    }
  } else {
    // Contraction: once a sweep changes nothing by more than this, everything that may follow is
    // below 1e-12 of the largest total.
    const double rest = problem.discount() / (1 - problem.discount());
    const int expected = stages_until_negligible(problem, 1e-13);
    for (double change = 1, scale = 1;
         change * rest > 1e-12 * scale && result.sweeps < 10 * expected; next.swap(values)) {
      if ((result.stopped = watch.stop(
               execution, ranks, std::min(0.99, static_cast<double>(result.sweeps) / expected))))
        break;
      sweep.step(0, next, values, actions);
      change = 0, scale = 1;
      for (std::size_t s = 0; s < next.size(); ++s) {
        change = std::max(change, std::abs(values[s] - next[s]));
        scale = std::max(scale, std::abs(values[s]));
      }
      change = agree_on_max(ranks, change), scale = agree_on_max(ranks, scale);
      ++result.sweeps;
    }
    result.values = {next};
    result.policy.stages = {pure_stage(actions)};
  }
  result.row_evaluations = sweep.row_evaluations();
  return result;
}

int stages_until_negligible(const Problem& problem, double tolerance) {
  return std::max(1,
                  static_cast<int>(std::ceil(std::log(tolerance) / std::log(problem.discount()))));
}

namespace {

Solution unconstrained(const Problem& problem, const Problem& model_to_solve, const char* method,
                       const Execution& execution) {
  const Stopwatch watch;
  Workers workers(execution);
  ValueIteration found = value_iteration(model_to_solve, Channel{}, workers, execution);
  Solution solution;
  solution.method = method;
  if (found.stopped) return stopped(problem, std::move(solution), watch, workers);
  solution.policy = std::move(found.policy);
  solution.row_evaluations = found.row_evaluations;
  solution.iterations = found.sweeps;
  // No policy earns more in the worst case than one that has nothing else to care for. Under a tilt
  // more later may be worth less now, so that a maximum taken stage by stage proves nothing.
  if (&problem == &model_to_solve && !std::holds_alternative<Tilt>(problem.uncertainty()))
    solution.reward.bound = found.at(problem.start());
  finish(problem, solution, workers, 1e-9);
  solution.seconds = watch.seconds();
  return solution;
}

}  // namespace

Solution robust(const Problem& problem, const Execution& execution) {
  return unconstrained(problem, problem, "robust", execution);
}

Solution nominal(const Problem& problem, const Execution& execution) {
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  return unconstrained(problem, problem.with(std::move(terms)), "nominal", execution);
}

AchievableRange achievable_range(const Problem& problem, int constraint,
                                 const Execution& execution) {
  if (problem.constraints()[constraint].probability) {
    const AugmentedProblem augmented = augment_one(problem, constraint);
    const AchievableRange change = achievable_range(augmented.problem, 0, execution);
    const double kept = augmented.kept_at_start(0);
    return {kept + change.best, kept + change.worst};
  }
  Workers workers(execution);
  const Channel channel = channel_of(problem, constraint);
  const double best = value_iteration(problem, channel, workers, execution).at(problem.start());
  const double worst =
      value_iteration(problem, channel, workers, execution, true).at(problem.start());
  return {channel.sign * best + 0.0, channel.sign * worst + 0.0};  // no -0
}

}  // namespace redoubt
