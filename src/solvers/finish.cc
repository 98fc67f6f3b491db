#include "solvers/finish.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "evaluation/evaluation.h"
#include "evaluation/satisfied.h"
#include "parallel/collectives.h"
#include "solvers/value_iteration/value_iteration.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

std::optional<double> Solution::gap() const {
  if (!all_satisfied(constraints) || !reward.bound || !is_known(reward.worst)) return {};
  const double gap = *reward.bound - reward.worst;
  const double rounding = 1e-9 * std::max(std::abs(*reward.bound), std::abs(reward.worst));
  return gap < 0 && gap >= -rounding ? 0.0 : gap;
}

// What nature's landings earn: nobody should have to guess.
void internal::note_landings(const Problem& problem, Communicator& ranks, Solution& solution) {
  if (!lands_anywhere(problem)) return;
  const Model& model = problem.model();
  std::vector<std::string> earned;
  for (int signal = -1; signal < model.signals(); ++signal) {
    if (any_rank(ranks, !model.arrival_values(signal).empty()))
      earned.push_back(signal < 0 ? "reward" : model.arrays().signals[signal].name);
  }
  solution.notes.push_back(fmt::format(
      "nature may move mass to states that a row does not list; such an arrival earns the row's "
      "own values{}",
      earned.empty() ? " and nothing else"
                     : fmt::format(" and what its state gives: {}", fmt::join(earned, ", "))));
}

void internal::judge(Evaluation evaluation, const GapTolerance& tolerance, Solution& solution) {
  const bool holds = evaluation.satisfied();
  solution.reward.worst = evaluation.reward.worst;
  solution.constraints = std::move(evaluation.constraints);
  solution.hopeless = evaluation.hopeless;
  if (!evaluation.converged)
    solution.notes.emplace_back(
        "the worst-case values did not converge (tilt is no contraction); do not rely on them");
  const auto gap = solution.gap();
  const bool tight =
      gap && *gap <= std::max(tolerance.allowed(solution.reward.worst, *solution.reward.bound),
                              1e-12 * std::abs(solution.reward.worst));
  solution.status = !holds ? Status::violated : tight ? Status::certified : Status::feasible;
}

void internal::finish(const Problem& problem, Solution& solution, Workers& workers,
                      const GapTolerance& tolerance, const StageStore* store,
                      std::span<const double> near) {
  judge(evaluate(problem, solution.policy, workers, false, store, nullptr, near).evaluation,
        tolerance, solution);
  note_landings(problem, workers.ranks(), solution);
}

namespace {

Channel safest_channel(const Problem& problem) {
  return problem.constraints().empty() ? Channel{} : channel_of(problem, 0);
}

// Worst cases that nobody knows keep no promise.
void set_unknown(const Problem& problem, Solution& solution) {
  solution.policy = {};
  solution.curve.clear();
  solution.reward.worst = kUnknown;
  solution.constraints.clear();
  for (const Constraint& c : problem.constraints())
    solution.constraints.push_back(
        {c.signal, c.sense, c.bound, c.probability, kUnknown, false, std::nullopt});
  solution.notes.emplace_back("stopped before any policy was evaluated: there is none attached");
}

}  // namespace

Solution internal::stopped(const Problem& problem, Solution solution, Stopwatch& watch,
                           Workers& workers, BestPolicy evaluated, const GapTolerance& tolerance) {
  watch.allow(kSecondsToAnswer);
  try {
    if (!evaluated.best()) offer_best_for_one(problem, workers, evaluated);
  } catch (const Stopped&) {  // what was evaluated by now is the answer
  }
  solution.status = Status::stopped;
  solution.unfinished = true;
  if (evaluated.best()) {
    EvaluatedPolicy best = evaluated.take();
    solution.policy = std::move(best.policy);
    solution.curve = std::move(best.curve);
    judge(std::move(best.evaluation), tolerance, solution);
    if (solution.status == Status::violated) solution.status = Status::stopped;
    if (!best.origin.empty())
      solution.notes.push_back("stopped early; the policy attached is " + best.origin);
    for (const ConstraintResult& c : solution.constraints) {
      if (!is_known(c.worst))
        solution.notes.push_back(fmt::format(
            "stopped before the chance constraint on '{}' was evaluated: it is not known whether "
            "the policy keeps it",
            c.name));
    }
    note_landings(problem, workers.ranks(), solution);
  } else {
    set_unknown(problem, solution);
  }
  solution.seconds = watch.seconds();
  return solution;
}

Solution internal::stopped_with_policy(const Problem& problem, Solution solution, Stopwatch& watch,
                                       Workers& workers, const GapTolerance& tolerance) {
  watch.allow(kSecondsToAnswer);
  BestPolicy evaluated;
  try {
    offer_unevaluated(
        problem,
        {std::move(solution.policy), {}, std::move(solution.curve), "the best that had been found"},
        workers, evaluated);
  } catch (const Stopped&) {
  }
  return stopped(problem, std::move(solution), watch, workers, std::move(evaluated), tolerance);
}

Solution internal::finished(const Problem& problem, Solution solution, Stopwatch& watch,
                            Workers& workers, const GapTolerance& tolerance,
                            const StageStore* store, BestPolicy evaluated,
                            std::span<const double> near) {
  try {
    finish(problem, solution, workers, tolerance, store, near);
  } catch (const Stopped&) {
    return evaluated.best() || store != nullptr
               ? stopped(problem, std::move(solution), watch, workers, std::move(evaluated),
                         tolerance)
               : stopped_with_policy(problem, std::move(solution), watch, workers, tolerance);
  }
  solution.seconds = watch.seconds();
  return solution;
}

void internal::append_tail(const Problem& problem, Solution& solution, int stages,
                           Workers& workers) {
  Policy& policy = solution.policy;
  policy.stages.push_back(
      value_iteration(problem, safest_channel(problem), workers).policy.stages.front());
  policy.repeats_last = true;
  for (BudgetAxis& axis : policy.budget) axis.low.back() = 0, axis.cells.back() = 1;
  solution.cut = stages;
  solution.notes.push_back(
      fmt::format("the infinite horizon was cut after {} stages; from there on the policy is the "
                  "one safest for the first constraint",
                  stages));
}

}  // namespace redoubt
