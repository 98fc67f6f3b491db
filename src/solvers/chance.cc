#include "solvers/chance.h"

#include "model/require.h"
#include "redoubt/chance.h"
#include "solvers/finish.h"

namespace redoubt {
namespace {

// What the augmented problem says of a chance constraint lacks what was kept from the start.
void add_what_was_kept(const AugmentedProblem& augmented, Solution& solution) {
  for (std::size_t i = 0; i < augmented.chance.size(); ++i) {
    const auto c = static_cast<std::size_t>(augmented.chance[i]);
    const double kept = augmented.kept_at_start(static_cast<int>(i));
    for (CurvePoint& point : solution.curve) point.constraints[c] += kept;
    if (c < solution.trace.constraints.size())
      for (double& value : solution.trace.constraints[c]) value += kept;
    auto& best = solution.constraints[c].best_achievable;
    if (best) *best += kept;
  }
}

void add_notes(const AugmentedProblem& augmented, Solution& solution) {
  if (solution.hopeless && *solution.hopeless > 0) {
    solution.notes.push_back(
        fmt::format("in the worst case the policy comes, with probability {:.6g}, to a state from "
                    "which it cannot keep a constraint any more",
                    *solution.hopeless));
  }
  for (const BudgetAxis& axis : augmented.budget) {
    if (axis.exact) continue;
    solution.notes.push_back(fmt::format(
        "totals of '{}' lie on no lattice: they are counted in steps of {:.6g}, rounded "
        "against the policy, so that it keeps its bound at least as often as this says",
        augmented.original.model().arrays().signals[axis.signal].name, axis.step));
  }
}

}  // namespace

Solution solve_augmented(const Problem& problem, const Execution& execution,
                         const std::function<Solution(const Problem&)>& method) {
  const Stopwatch watch;
  require(problem.discount() == 1 || !std::holds_alternative<Tilt>(problem.uncertainty()),
          "set tilt with discount {} and a chance constraint, the discount must be 1",
          problem.discount());
  const AugmentedProblem augmented = augment(problem);
  Solution solution = method(augmented.problem);
  add_what_was_kept(augmented, solution);
  add_notes(augmented, solution);
  const Status found = solution.status;
  const std::vector<ConstraintResult> constraints = solution.constraints;
  solution.policy = lift(augmented, solution.policy);
  // A bound on what policies can do when totals count for less than they are says nothing of the
  // problem itself.
  if (!augmented.exact()) solution.reward.bound.reset(), solution.reward.static_bound.reset();
  Workers workers(execution);
  finish(problem, solution, workers);
  for (std::size_t c = 0; augmented.exact() && c < constraints.size(); ++c)
    solution.constraints[c].best_achievable = constraints[c].best_achievable;
  const bool proved =
      augmented.exact() && (found == Status::infeasible ||
                            (found == Status::certified && solution.status == Status::feasible));
  if (proved || found == Status::stopped) solution.status = found;
  solution.seconds = watch.seconds();
  return solution;
}

}  // namespace redoubt
