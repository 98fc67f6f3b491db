#include "solvers/chance.h"

#include "model/require.h"
#include "policy/augment.h"
#include "policy/budget_axes.h"
#include "policy/lift.h"
#include "redoubt/chance.h"
#include "redoubt/checkpoint.h"
#include "solvers/finish.h"
#include "solvers/value_iteration.h"

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
        fmt::format("with worst-case probability {:.3g} the policy reaches a state from which it "
                    "cannot keep a constraint any more",
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

// What rounding may take from a total in all: less than a step after each stage, in the units of
// the next one.
double most_lost(const Problem& problem, const BudgetAxis& axis) {
  double lost = 0, worth = 1;
  for (int h = 0; h < problem.horizon() && !axis.exact; ++h)
    lost += axis.step * (worth *= problem.discount());
  return lost;
}

// Bounds so loose that whoever keeps those of the problem keeps these even when its totals are
// rounded against it: a bound on the reward here is one for the problem itself.
Problem loosened(const Problem& problem, Communicator& ranks) {
  Terms terms = problem.terms();
  for (std::size_t c = 0; c < terms.constraints.size(); ++c) {
    Constraint& constraint = terms.constraints[c];
    if (!constraint.probability) continue;
    const double bound = constraint.bound, down = constraint.sense == Sense::at_least ? -1 : 1;
    double looser = 0, lost = 0;
    const auto axis = [&] { return chance_axis(problem.with(terms), static_cast<int>(c), ranks); };
    while ((lost = most_lost(problem, axis())) > looser) {
      looser = 1.01 * lost;  // another bound may have another grid
      constraint.bound = bound + down * looser;
    }
  }
  return problem.with(terms);
}

// Replaces what was proved of rounded totals by what that proves of the problem itself. Returns the
// seconds that it took.
double prove_unrounded(const Problem& problem, Execution execution, const ExpectedMethod& method,
                       Communicator& ranks, Solution& solution) {
  const bool had_proof = solution.reward.bound || solution.status == Status::infeasible;
  solution.reward.bound = solution.reward.static_bound = std::nullopt;
  execution.time_limit -= solution.seconds;
  if (!had_proof || execution.time_limit < 0) {
    solution.unfinished |= had_proof;
    solution.status = Status::feasible;
    return 0;
  }
  if (execution.checkpoint) execution.checkpoint = execution.checkpoint->part("unrounded");
  const Solution limit = method(augment(loosened(problem, ranks), ranks).problem, execution);
  solution.reward.bound = limit.reward.bound;
  solution.reward.static_bound = limit.reward.static_bound;
  solution.unfinished |= limit.unfinished;
  if (solution.status == Status::infeasible && limit.status != Status::infeasible)
    solution.notes.emplace_back(
        "no policy keeps the constraints when totals are rounded; without, it is not known");
  solution.status = limit.status == Status::infeasible ? Status::infeasible : Status::feasible;
  return limit.seconds;
}

// The plan of a solve of the augmented problem says what it needs; the rest is in memory, too.
Execution with_all_memory(const AugmentedProblem& augmented, Execution execution) {
  if (!execution.planned) return execution;
  const double more = bytes_beyond_model(augmented);
  execution.planned = [more, tell = execution.planned](MemoryPlan memory) {
    memory.model += more;
    tell(memory);
  };
  return execution;
}

// What the augmented problem says of the problem itself.
struct Answer {
  Solution solution;
  bool exact = true;  // no total is rounded
};
Answer solve_pairs(const Problem& problem, const Execution& execution, const ExpectedMethod& method,
                   Communicator& ranks) {
  const AugmentedProblem augmented = augment(problem, ranks);
  Solution solution = method(augmented.problem, with_all_memory(augmented, execution));
  add_what_was_kept(augmented, solution);
  add_notes(augmented, solution);
  solution.policy = lift(augmented, solution.policy, ranks);
  return {std::move(solution), augmented.exact()};
}

// A stop on the way leaves it at its strictest.
GapTolerance gap_tolerance(const Problem& problem, double relative, Workers& workers) {
  if (relative == 0) return {};
  try {
    return {relative, reward_spread(problem, workers)};
  } catch (const Stopped&) {
    return {relative};
  }
}

}  // namespace

Solution solve_augmented(const Problem& problem, const Execution& execution, double tolerance,
                         const ExpectedMethod& method) {
  require(problem.discount() == 1 || !std::holds_alternative<Tilt>(problem.uncertainty()),
          "set tilt with discount {} and a chance constraint, the discount must be 1",
          problem.discount());
  Communicator& ranks = execution.ranks ? *execution.ranks : one_process();
  auto [solution, exact] = solve_pairs(problem, execution, method, ranks);
  const std::vector<ConstraintResult> constraints = solution.constraints;
  Stopwatch watch(execution);
  double before = solution.seconds;
  if (!exact && solution.status != Status::stopped)
    before += prove_unrounded(problem, execution, method, ranks, solution);
  const Status found = solution.status;
  Workers workers(execution, &watch);
  solution = found == Status::stopped
                 ? stopped_with_policy(problem, std::move(solution), watch, workers)
                 : finished(problem, std::move(solution), watch, workers,
                            gap_tolerance(problem, tolerance, workers));
  for (std::size_t c = 0; exact && c < constraints.size(); ++c)
    solution.constraints[c].best_achievable = constraints[c].best_achievable;
  const bool proved = found == Status::infeasible ||
                      (found == Status::certified && solution.status == Status::feasible);
  if (proved) solution.status = found;
  solution.seconds += before;
  return std::move(solution);
}

}  // namespace redoubt
