#include <algorithm>
#include <cmath>

#include "bellman/nominal_rows.h"
#include "evaluation/chance_value.h"
#include "model/bytes.h"
#include "model/set_traits.h"
#include "parallel/memory_limit.h"
#include "redoubt/given_policy.h"
#include "solvers/finish.h"
#include "solvers/value_iteration/best_rows.h"
#include "solvers/value_iteration/changed_states.h"
#include "solvers/value_iteration/value_iteration.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

// Two layers to solve and, beside what is left of them, two to evaluate; the rows that a policy
// takes and, for an infinite horizon or many stages without
// uncertainty, where they lead; a decision of each state and stage; of a finite horizon, which
// states lead to which.
MemoryPlan plan_robust(const Problem& problem) {
  const Model& model = problem.model();
  const bool infinite = problem.infinite();
  const double layers =
      (infinite ? 3 : 1) + 2 * (1.0 + static_cast<double>(problem.constraints().size()));
  const double outcomes = 1 + static_cast<double>(model.outcomes()) /
                                  std::max<double>(1, static_cast<double>(model.rows()));
  const bool gathers = infinite || BestRows::may_gather(problem, problem.horizon() - 1);
  const double taken = (8 + 8 + 8 + 8) + (gathers ? 8 + 8 + 8 + (8 + 4) * outcomes : 0);
  const double decision = shares_radius(problem)        ? 8 + (4 + 8.0) * model.most_actions()
                          : model.most_actions() <= 256 ? 4
                                                        : 8 + 4 + 8;
  MemoryPlan plan;
  plan.model = bytes_of(model);
  plan.values = (8 * layers + taken) * model.own_states();
  // Of a state of another rank, besides, what sends and receives it: a number, an offset and a
  // value each way, for the search and again for the evaluation of its policy.
  const double exchanged = 2 * 2 * (4 + 8 + 8);
  plan.halo = (8 * layers + exchanged) * (model.states() - model.own_states());
  if (!infinite) plan.values += ChangedStates::bytes(model);
  if (AlikeRows::pay(problem)) plan.values += 2 * AlikeRows::bytes(model);
  // What rows earn in expectation, where the model does not have it.
  if (model.arrays().reward.empty() || !model.outcome_values(-1).empty())
    plan.values += 8.0 * static_cast<double>(model.rows());
  if (problem.undiscounted()) plan.values += bytes_of_shortest_path(problem);
  plan.policy = decision * (infinite ? 1 : problem.horizon()) * model.own_states();
  return plan;
}

namespace {

Problem without_nature(const Problem& problem) {
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  return problem.with(std::move(terms));
}

Solution unconstrained(const Problem& problem, bool against_nature, const char* method,
                       const RobustOptions& options, const Execution& execution) {
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance = {}, must be in (0, 1)",
          options.tolerance);
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  const Problem model_to_solve = against_nature ? problem : without_nature(problem);
  const bool helpful = problem.terms().helpful_nature;
  require(!helpful || problem.constraints().empty(),
          "nature helpful with {} constraints, must be left out of what is solved for",
          problem.constraints().size());
  const Channel channel = reward_channel(problem);
  announce(plan_robust(problem), execution);
  Solution solution;
  solution.method = method;
  ValueIteration found;
  try {
    require_room_for_chance(problem, workers);
    SolverCheckpoint solve(execution, problem,
                           fmt::format("{}(tolerance={})", method, options.tolerance), watch);
    // What a helpful nature makes large is small in its sign, and the policy does the same.
    found = value_iteration(model_to_solve, channel, workers, helpful, &solve, options.tolerance);
  } catch (const Stopped&) {
    return stopped(problem, std::move(solution), watch, workers);
  }
  // Without nature more states may be one.
  solution.policy = !against_nature && model_to_solve.merged() != nullptr
                        ? given_policy(model_to_solve, found.policy).policy
                        : std::move(found.policy);
  solution.row_evaluations = found.row_evaluations;
  solution.iterations = found.sweeps;
  // No policy earns more in the worst case than one that has nothing else to care for. Under a tilt
  // more later may be worth less now, so that a maximum taken stage by stage proves nothing.
  if (against_nature && !std::holds_alternative<Tilt>(problem.uncertainty()) &&
      std::isfinite(found.error))
    solution.reward.bound = channel.sign * found.at(problem.start()) + found.error;
  const GapTolerance tolerance{options.tolerance, found.scale};
  const bool same_set = against_nature || is_nominal(problem);
  if (!found.evaluated || !same_set || !problem.constraints().empty())
    return finished(problem, std::move(solution), watch, workers, tolerance, nullptr, BestPolicy{},
                    found.values);
  judge(report(problem, {found.at(problem.start())}, workers.ranks()), tolerance, solution);
  note_landings(problem, workers.ranks(), solution);
  solution.seconds = watch.seconds();
  return solution;
}

}  // namespace

Solution robust(const Problem& problem, const RobustOptions& options, const Execution& execution) {
  return unconstrained(problem, true, "robust", options, execution);
}

Solution nominal(const Problem& problem, const RobustOptions& options, const Execution& execution) {
  return unconstrained(problem, false, "nominal", options, execution);
}

AchievableRange achievable_range(const Problem& problem, int constraint,
                                 const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  if (problem.constraints()[constraint].probability) {
    const AugmentedProblem augmented = augment_one(problem, constraint, workers);
    const AchievableRange change = achievable_range(augmented.problem, 0, watch.rest());
    const double kept = augmented.kept_at_start(0);
    const auto probability = [&](double value) { return std::clamp(kept + value, 0.0, 1.0); };
    return {probability(change.best), probability(change.worst)};  // whatever rounding makes of it
  }
  const Channel channel = channel_of(problem, constraint);
  const bool helpful = problem.terms().helpful_nature;
  const double best = value_iteration(problem, channel, workers, helpful).at(problem.start());
  const double worst = value_iteration(problem, channel, workers, !helpful).at(problem.start());
  return {channel.sign * best + 0.0, channel.sign * worst + 0.0};  // no -0
}

}  // namespace redoubt
