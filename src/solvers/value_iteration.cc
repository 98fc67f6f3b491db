#include "solvers/value_iteration.h"

#include <algorithm>
#include <cmath>

#include "model/agree.h"
#include "model/bytes.h"
#include "model/memory.h"
#include "policy/chance_value.h"
#include "policy/pure_stage.h"
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
    const double floor =
        agree_on_min(group_.ranks(), *std::min_element(next.begin(), next.end())) + 0.0;  // no -0
    const double work = 40.0 * static_cast<double>(model.outcomes()) / model.stages();
    exchange_.sweep(group_, {work}, {values.data()}, [&](State state, std::int64_t, int worker) {
      std::int32_t& best = actions[model.own_place(state)];
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

  Communicator& ranks() const { return group_.ranks(); }
  double row_evaluations() const { return agree_on_sum(ranks(), own_evaluations()); }

  // What a checkpoint keeps: the values of this rank's states. Once they are read, other ranks' are
  // missing.
  void visit(Archive& archive, std::vector<double>& values) {
    const Model& model = problem_.model();
    archive.visit_states("values", 1, [&](State own) { return values.data() + model.own(own); });
    double evaluations = own_evaluations();
    archive.visit_sum("row_evaluations", evaluations);
    evaluations_before_ += evaluations - own_evaluations();
  }
  void take_from_others(std::vector<double>& values) { exchange_.update({values.data()}); }

 private:
  double own_evaluations() const {
    double sum = evaluations_before_;
    for (const RowEvaluator& rows : rows_) sum += rows.evaluations();
    return sum;
  }

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
  double evaluations_before_ = 0;  // in the run that this one continues
};

void report(Savepoint* solve, double done) {
  if (solve && solve->watch().stop(done)) throw Stopped("stopped before there was an answer");
}

void run_finite(const Problem& problem, Sweep& sweep, Savepoint* solve, ValueIteration& result) {
  std::int64_t stage = problem.horizon();
  const auto horizon = static_cast<double>(stage);
  std::vector<double>& next = result.values;
  next.assign(problem.model().states(), 0.0);
  result.policy.stages.resize(stage);
  const auto state = [&](Archive& archive) {
    archive.visit("stage", stage);
    archive.visit_stages("policy", result.policy, nullptr);
    sweep.visit(archive, next);
  };
  if (solve && solve->restore(state)) sweep.take_from_others(next);
  std::vector<double> values;
  std::vector<std::int32_t> actions;
  while (stage > 0) {
    report(solve, 1 - static_cast<double>(stage) / horizon);
    const auto h = static_cast<int>(stage - 1);
    sweep.step(h, next, values, actions);
    next.swap(values);
    result.policy.stages[h] = pure_stage(actions);
    stage = h;
    if (solve) solve->offer(state);
  }
  result.sweeps = problem.horizon();
}

// Contraction: once a sweep changes nothing by more than this, everything that may follow is below
// 1e-12 of the largest total.
void run_infinite(const Problem& problem, Sweep& sweep, Savepoint* solve, ValueIteration& result) {
  std::vector<double> next(problem.model().states(), 0.0), values;
  std::vector<std::int32_t> actions;
  double change = 1, scale = 1;
  const auto state = [&](Archive& archive) {
    archive.visit("sweeps", result.sweeps);
    archive.visit("change", change);
    archive.visit("scale", scale);
    archive.visit_stages("policy", result.policy, nullptr);
    sweep.visit(archive, next);
  };
  if (solve && solve->restore(state)) sweep.take_from_others(next);
  const double rest = problem.discount() / (1 - problem.discount());
  const int expected = stages_until_negligible(problem, 1e-13);
  while (change * rest > 1e-12 * scale && result.sweeps < 10 * expected) {
    report(solve, std::min(0.99, static_cast<double>(result.sweeps) / expected));
    sweep.step(0, next, values, actions);
    change = 0, scale = 1e-300;
    for (std::size_t s = 0; s < next.size(); ++s) {
      change = std::max(change, std::abs(values[s] - next[s]));
      scale = std::max(scale, std::abs(values[s]));
    }
    change = agree_on_max(sweep.ranks(), change), scale = agree_on_max(sweep.ranks(), scale);
    next.swap(values);
    ++result.sweeps;
    result.policy.stages = {pure_stage(actions)};
    if (solve) solve->offer(state);
  }
  result.values = std::move(next);
}

}  // namespace

double ValueIteration::at(const Start& start) const {
  double sum = 0;
  for (std::size_t i = 0; i < start.states.size(); ++i)
    sum += start.probability[i] * values[start.states[i]];
  return sum;
}

ValueIteration value_iteration(const Problem& problem, Channel channel, Workers& workers,
                               bool least, Savepoint* solve) {
  Sweep sweep(problem, channel, workers, least);
  ValueIteration result;
  result.policy.states = problem.model().own_states();
  result.policy.repeats_last = problem.infinite();
  if (problem.infinite()) {
    run_infinite(problem, sweep, solve, result);
  } else {
    run_finite(problem, sweep, solve, result);
  }
  result.row_evaluations = sweep.row_evaluations();
  return result;
}

double reward_spread(const Problem& problem, Workers& workers) {
  return value_iteration(problem, Channel{}, workers).at(problem.start()) -
         value_iteration(problem, Channel{}, workers, true).at(problem.start());
}

int stages_until_negligible(const Problem& problem, double tolerance) {
  return std::max(1,
                  static_cast<int>(std::ceil(std::log(tolerance) / std::log(problem.discount()))));
}

// Two layers to solve and, beside what is left of them, two to evaluate; a decision of each state
// and stage.
MemoryPlan plan_robust(const Problem& problem) {
  const Model& model = problem.model();
  const double layers = 1 + 2 * (1.0 + static_cast<double>(problem.constraints().size()));
  const double stages = problem.infinite() ? 1 : problem.horizon();
  MemoryPlan plan;
  plan.model = bytes_of(model);
  plan.values = 8 * layers * model.own_states();
  // Of a state of another rank, besides, what sends and receives it: a number, an offset and a
  // value each way, for the search and again for the evaluation of its policy.
  const double exchanged = 2 * 2 * (4 + 8 + 8);
  plan.halo = (8 * layers + exchanged) * (model.states() - model.own_states());
  plan.policy = (8 + 4 + 8) * stages * model.own_states();
  return plan;
}

namespace {

Problem without_nature(const Problem& problem) {
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  return problem.with(std::move(terms));
}

Solution unconstrained(const Problem& problem, bool against_nature, const char* method,
                       const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  const Problem model_to_solve = against_nature ? problem : without_nature(problem);
  announce(plan_robust(problem), execution);
  Solution solution;
  solution.method = method;
  ValueIteration found;
  try {
    Savepoint solve(execution, problem, method, watch);
    found = value_iteration(model_to_solve, Channel{}, workers, false, &solve);
  } catch (const Stopped&) {
    return stopped(problem, std::move(solution), watch, workers);
  }
  solution.policy = std::move(found.policy);
  solution.row_evaluations = found.row_evaluations;
  solution.iterations = found.sweeps;
  // No policy earns more in the worst case than one that has nothing else to care for. Under a tilt
  // more later may be worth less now, so that a maximum taken stage by stage proves nothing.
  if (against_nature && !std::holds_alternative<Tilt>(problem.uncertainty()))
    solution.reward.bound = found.at(problem.start());
  return finished(problem, std::move(solution), watch, workers, {.relative = 1e-9});
}

}  // namespace

Solution robust(const Problem& problem, const Execution& execution) {
  return unconstrained(problem, true, "robust", execution);
}

Solution nominal(const Problem& problem, const Execution& execution) {
  return unconstrained(problem, false, "nominal", execution);
}

AchievableRange achievable_range(const Problem& problem, int constraint,
                                 const Execution& execution) {
  if (problem.constraints()[constraint].probability) {
    const AugmentedProblem augmented = augment_one(problem, constraint);
    const AchievableRange change = achievable_range(augmented.problem, 0, execution);
    const double kept = augmented.kept_at_start(0);
    return {kept + change.best, kept + change.worst};
  }
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  const Channel channel = channel_of(problem, constraint);
  const double best = value_iteration(problem, channel, workers).at(problem.start());
  const double worst = value_iteration(problem, channel, workers, true).at(problem.start());
  return {channel.sign * best + 0.0, channel.sign * worst + 0.0};  // no -0
}

}  // namespace redoubt
