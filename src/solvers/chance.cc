#include "solvers/chance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "chance/augment.h"
#include "evaluation/satisfied.h"
#include "policy/budget_axes.h"
#include "redoubt/chance.h"
#include "redoubt/evaluate.h"
#include "solvers/finish.h"
#include "solvers/value_iteration/value_iteration.h"
#include "support/require.h"

namespace redoubt::internal {
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
Problem loosened(const Problem& problem, Workers& workers) {
  Terms terms = problem.terms();
  for (std::size_t c = 0; c < terms.constraints.size(); ++c) {
    Constraint& constraint = terms.constraints[c];
    if (!constraint.probability) continue;
    const double bound = constraint.bound, down = constraint.sense == Sense::at_least ? -1 : 1;
    double looser = 0, lost = 0;
    const auto axis = [&] {
      return chance_axis(problem.with(terms), static_cast<int>(c), workers);
    };
    while ((lost = most_lost(problem, axis())) > looser) {
      looser = 1.01 * lost;  // another bound may have another grid
      constraint.bound = bound + down * looser;
    }
  }
  return problem.with(terms);
}

// Replaces what was proved of rounded totals by what that proves of the problem itself. Throws
// Stopped, and then nothing is proved.
void prove_unrounded(const Problem& problem, const Stopwatch& watch, const ExpectedMethod& method,
                     Workers& workers, Solution& solution) {
  const bool had_proof = solution.reward.bound || solution.status == Status::infeasible;
  const bool infeasible_rounded = solution.status == Status::infeasible;
  solution.reward.bound = solution.reward.static_bound = std::nullopt;
  solution.status = Status::feasible;
  if (!had_proof) return;
  const AugmentedProblem augmented =
      augment(loosened(problem, workers), workers, method.bytes_for_each_state);
  Execution rest = watch.rest();
  if (rest.checkpoint) rest.checkpoint = rest.checkpoint->part("unrounded");
  const Solution limit = method.solve(augmented.problem, rest);
  solution.reward.bound = limit.reward.bound;
  solution.reward.static_bound = limit.reward.static_bound;
  solution.unfinished |= limit.unfinished;
  if (limit.status == Status::infeasible) solution.status = Status::infeasible;
  if (infeasible_rounded && limit.status != Status::infeasible)
    solution.notes.emplace_back(
        "no policy keeps the constraints when totals are rounded; without, it is not known");
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

// What was found of the augmented problem, as it is for the problem itself: rounded totals count
// against the policy.
Evaluation evaluation_of(const AugmentedProblem& augmented, const Solution& solution) {
  Evaluation evaluation{.reward = {solution.reward.worst, {}, {}},
                        .constraints = solution.constraints,
                        .hopeless = solution.hopeless};
  for (std::size_t i = 0; i < augmented.chance.size(); ++i) {
    const auto c = static_cast<std::size_t>(augmented.chance[i]);
    const Constraint& original = augmented.original.constraints()[c];
    const double kept =
        augmented.kept_at_start(static_cast<int>(i)) + solution.constraints[c].worst;
    evaluation.constraints[c] = {
        original.signal,      original.sense, original.bound,
        original.probability, kept,           satisfied(original, kept, kSatisfied),
        std::nullopt};
  }
  return evaluation;
}

// What the augmented problem says of the problem itself.
struct Answer {
  Solution solution;
  BestPolicy evaluated;  // the policy of the solution, as a policy for the problem itself
  bool exact = true;     // no total is rounded
};

// The way back takes about as long as the way there: somebody who sets a limit gets that time for
// it, of which a search that asks for all of it would leave nothing.
Execution leaving_time_to_lift(const Stopwatch& watch) {
  Execution run = watch.rest();
  if (std::isfinite(run.time_limit))
    run.time_limit -= std::min(watch.seconds(), 0.5 * run.time_limit);
  return run;
}

// After a stop that came before the end of that time nobody waits any longer; otherwise there is
// what was left for this.
void allow_time_to_lift(const Execution& run, double spent, Stopwatch& watch) {
  const bool told = spent < run.time_limit;
  const double left = watch.rest().time_limit;
  watch.allow(kSecondsToAnswer + (told || !std::isfinite(left) ? 0 : left));
}

// Throws Stopped; what is known by then is in the answer.
void solve_pairs(const Problem& problem, Stopwatch& watch, const ExpectedMethod& method,
                 Workers& workers, Answer& answer) {
  const AugmentedProblem augmented = augment(problem, workers, method.bytes_for_each_state);
  const Execution run = leaving_time_to_lift(watch);
  const double begin = watch.seconds();
  answer.exact = augmented.exact();
  Solution& solution = answer.solution;
  solution = method.solve(augmented.problem, with_all_memory(augmented, run));
  add_what_was_kept(augmented, solution);
  const std::vector<std::string> notes = std::exchange(solution.notes, {});  // on its policy
  if (!is_known(solution.reward.worst)) return;
  if (solution.unfinished) allow_time_to_lift(run, watch.seconds() - begin, watch);
  Policy policy = to_original(augmented, solution.policy, workers);
  solution.policy = policy;
  solution.notes = notes;
  add_notes(augmented, solution);
  answer.evaluated.offer(
      {std::move(policy), evaluation_of(augmented, solution), solution.curve, ""});
}

GapTolerance gap_tolerance(const Problem& problem, double relative, Workers& workers) {
  if (relative == 0) return {};
  return {relative, reward_spread(problem, workers)};
}

// The rest of a solve that came to its end: proofs for totals that are not rounded, and the
// evaluation of the policy on the problem itself. Throws Stopped.
void finish_unaugmented(const Problem& problem, Answer& answer, const Stopwatch& watch,
                        double tolerance, const ExpectedMethod& method, Workers& workers) {
  Solution& solution = answer.solution;
  const std::vector<ConstraintResult> constraints = solution.constraints;
  if (!answer.exact) prove_unrounded(problem, watch, method, workers, solution);
  const Status found = solution.status;
  finish(problem, solution, workers, gap_tolerance(problem, tolerance, workers));
  for (std::size_t c = 0; answer.exact && c < constraints.size(); ++c)
    solution.constraints[c].best_achievable = constraints[c].best_achievable;
  const bool proved = found == Status::infeasible ||
                      (found == Status::certified && solution.status == Status::feasible);
  if (proved) solution.status = found;
}

// The same for one that was stopped: its policy was evaluated on the augmented problem, and so was
// what is proved of it. Where there is none, `candidates` are.
Solution stopped_unaugmented(const Problem& problem, Answer answer, BestPolicy candidates,
                             Stopwatch& watch, double tolerance, Workers& workers) {
  Solution& solution = answer.solution;
  const std::vector<ConstraintResult> constraints = solution.constraints;
  const bool infeasible = answer.exact && solution.status == Status::infeasible;
  if (!answer.exact) solution.reward.bound = solution.reward.static_bound = std::nullopt;
  solution = stopped(problem, std::move(solution), watch, workers,
                     answer.evaluated.best() ? std::move(answer.evaluated) : std::move(candidates),
                     {.relative = tolerance});
  for (std::size_t c = 0; answer.exact && c < constraints.size(); ++c)
    solution.constraints[c].best_achievable = constraints[c].best_achievable;
  if (infeasible) solution.status = Status::infeasible;
  return std::move(solution);
}

}  // namespace

Solution solve_augmented(const Problem& problem, const Execution& execution, double tolerance,
                         const ExpectedMethod& method) {
  require(problem.discount() == 1 || !std::holds_alternative<Tilt>(problem.uncertainty()),
          "set tilt with discount {} and a chance constraint, the discount must be 1",
          problem.discount());
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  BestPolicy candidates;
  Answer answer;
  answer.solution.method = method.name;
  try {
    candidates = candidates_in_time(problem, execution);
    solve_pairs(problem, watch, method, workers, answer);
    if (answer.solution.unfinished)
      return stopped_unaugmented(problem, std::move(answer), std::move(candidates), watch,
                                 tolerance, workers);
    finish_unaugmented(problem, answer, watch, tolerance, method, workers);
  } catch (const Stopped&) {
    if (answer.evaluated.best())
      answer.solution.notes.emplace_back(
          "stopped before the answer was checked on the problem itself: its worst cases are those "
          "of the problem whose states remember the budgets");
    return stopped_unaugmented(problem, std::move(answer), std::move(candidates), watch, tolerance,
                               workers);
  }
  answer.solution.seconds = watch.seconds();
  return std::move(answer.solution);
}

}  // namespace redoubt::internal
