#include "solvers/finish.h"

#include <algorithm>
#include <cmath>

#include "model/require.h"
#include "policy/evaluation.h"
#include "solvers/value_iteration.h"

namespace redoubt {

std::optional<double> Solution::gap() const {
  const bool keeps = std::all_of(constraints.begin(), constraints.end(),
                                 [](const ConstraintResult& c) { return c.satisfied; });
  return keeps && reward.bound ? std::optional(*reward.bound - reward.worst) : std::nullopt;
}

void finish(const Problem& problem, Solution& solution, Workers& workers, double tolerance,
            const StageStore* store) {
  EvaluationPass pass = evaluate(problem, solution.policy, workers, false, store);
  solution.reward.worst = pass.evaluation.reward.worst;
  solution.constraints = std::move(pass.evaluation.constraints);
  solution.hopeless = pass.evaluation.hopeless;
  if (!pass.evaluation.converged)
    solution.notes.push_back(
        "the worst-case values did not converge (tilt is no contraction); do not rely on them");
  const bool holds = std::all_of(solution.constraints.begin(), solution.constraints.end(),
                                 [](const ConstraintResult& c) { return c.satisfied; });
  const auto gap = solution.gap();
  const bool tight = gap && *gap <= 1e-12 + tolerance * std::max(std::abs(solution.reward.worst),
                                                                 std::abs(*solution.reward.bound));
  solution.status = !holds ? Status::violated : tight ? Status::certified : Status::feasible;
}

Solution stopped(const Problem& problem, Solution solution, const Stopwatch& watch,
                 Workers& workers) {
  const Channel safest = problem.constraints().empty() ? Channel{} : channel_of(problem, 0);
  solution.policy = value_iteration(problem, safest, workers).policy;
  solution.notes.push_back(
      "stopped early; the policy attached is the one that is safest for the first constraint");
  finish(problem, solution, workers);
  solution.status = Status::stopped;
  solution.seconds = watch.seconds();
  return solution;
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
