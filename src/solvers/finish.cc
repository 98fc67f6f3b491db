#include "solvers/finish.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/agree.h"
#include "model/require.h"
#include "policy/evaluation.h"
#include "solvers/value_iteration.h"

namespace redoubt {

std::optional<double> Solution::gap() const {
  const bool keeps = std::all_of(constraints.begin(), constraints.end(),
                                 [](const ConstraintResult& c) { return c.satisfied; });
  if (!keeps || !reward.bound) return {};
  const double gap = *reward.bound - reward.worst;
  const double rounding = 1e-9 * std::max(std::abs(*reward.bound), std::abs(reward.worst));
  return gap < 0 && gap >= -rounding ? 0.0 : gap;
}

// What nature's landings earn: nobody should have to guess.
void note_landings(const Problem& problem, Communicator& ranks, Solution& solution) {
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

void finish(const Problem& problem, Solution& solution, Workers& workers,
            const GapTolerance& tolerance, const StageStore* store) {
  judge(evaluate(problem, solution.policy, workers, false, store), tolerance, solution);
  note_landings(problem, workers.ranks(), solution);
}

void judge(EvaluationPass pass, const GapTolerance& tolerance, Solution& solution) {
  solution.reward.worst = pass.evaluation.reward.worst;
  solution.constraints = std::move(pass.evaluation.constraints);
  solution.hopeless = pass.evaluation.hopeless;
  if (!pass.evaluation.converged)
    solution.notes.emplace_back(
        "the worst-case values did not converge (tilt is no contraction); do not rely on them");
  const bool holds = std::all_of(solution.constraints.begin(), solution.constraints.end(),
                                 [](const ConstraintResult& c) { return c.satisfied; });
  const auto gap = solution.gap();
  const bool tight =
      gap && *gap <= std::max(tolerance.allowed(solution.reward.worst, *solution.reward.bound),
                              1e-12 * std::abs(solution.reward.worst));
  solution.status = !holds ? Status::violated : tight ? Status::certified : Status::feasible;
}

namespace {

constexpr double kSecondsToAnswer = 0.4;

// Worst cases that nobody knows keep no promise.
void set_unknown(const Problem& problem, Solution& solution) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  solution.reward.worst = unknown;
  solution.constraints.clear();
  for (const Constraint& c : problem.constraints())
    solution.constraints.push_back(
        {c.signal, c.sense, c.bound, c.probability, unknown, false, std::nullopt});
  solution.notes.emplace_back(
      "there was no time to evaluate the policy: its worst cases are unknown");
}

// Evaluates what is there, as far as the watch allows.
Solution stopped_answer(const Problem& problem, Solution solution, Stopwatch& watch,
                        Workers& workers, const StageStore* store = nullptr) {
  try {
    finish(problem, solution, workers, {}, store);
  } catch (const Stopped&) {
    set_unknown(problem, solution);
  }
  solution.status = Status::stopped;
  solution.unfinished = true;
  solution.seconds = watch.seconds();
  return solution;
}

Policy first_actions(const Problem& problem) {
  const Model& model = problem.model();
  Policy policy;
  policy.states = model.own_states();
  const int horizon = problem.infinite() ? 1 : problem.horizon();
  policy.repeats_last = problem.infinite() || (model.stages() == 1 && horizon > 1);
  for (int h = 0; h < (policy.repeats_last ? 1 : horizon); ++h) {
    Policy::Stage stage;
    stage.choice_begin.push_back(0);
    for (State place = 0; place < model.own_states(); ++place) {
      const State s = model.own(place);
      if (model.row_begin(h, s) < model.row_end(h, s)) {
        stage.choice_action.push_back(0);
        stage.choice_weight.push_back(1.0);
      }
      stage.choice_begin.push_back(static_cast<std::int64_t>(stage.choice_action.size()));
    }
    policy.stages.push_back(std::move(stage));
  }
  return policy;
}

}  // namespace

Solution stopped(const Problem& problem, Solution solution, Stopwatch& watch, Workers& workers) {
  watch.allow(kSecondsToAnswer);
  const Channel safest = problem.constraints().empty() ? Channel{} : channel_of(problem, 0);
  try {
    solution.policy = value_iteration(problem, safest, workers).policy;
    solution.notes.emplace_back(
        "stopped early; the policy attached is the one that is safest for the first constraint");
  } catch (const Stopped&) {
    solution.policy = first_actions(problem);
    solution.notes.emplace_back(
        "stopped early; the policy attached takes the first action everywhere");
  }
  return stopped_answer(problem, std::move(solution), watch, workers);
}

Solution finished(const Problem& problem, Solution solution, Stopwatch& watch, Workers& workers,
                  const GapTolerance& tolerance, const StageStore* store) {
  try {
    finish(problem, solution, workers, tolerance, store);
  } catch (const Stopped&) {
    return stopped_with_policy(problem, std::move(solution), watch, workers, store);
  }
  solution.seconds = watch.seconds();
  return solution;
}

Solution stopped_with_policy(const Problem& problem, Solution solution, Stopwatch& watch,
                             Workers& workers, const StageStore* store) {
  watch.allow(kSecondsToAnswer);
  return stopped_answer(problem, std::move(solution), watch, workers, store);
}

void append_tail(const Problem& problem, Solution& solution, int stages, Workers& workers) {
  const Channel safest = problem.constraints().empty() ? Channel{} : channel_of(problem, 0);
  Policy& policy = solution.policy;
  policy.stages.push_back(value_iteration(problem, safest, workers).policy.stages.front());
  policy.repeats_last = true;
  for (BudgetAxis& axis : policy.budget) axis.low.back() = 0, axis.cells.back() = 1;
  solution.cut = stages;
  solution.notes.push_back(
      fmt::format("the infinite horizon was cut after {} stages; from there on the policy is the "
                  "one safest for the first constraint",
                  stages));
}

}  // namespace redoubt
