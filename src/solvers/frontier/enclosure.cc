#include "solvers/frontier/enclosure.h"

#include "policy/unseen_factors.h"
#include "solvers/finish.h"
#include "solvers/frontier/search/memoryless_bracket.h"

namespace redoubt::internal {
namespace {

// What a search for policies that see factors adds. Of a problem by itself, nothing is known of
// factors.
Solution add_neighbour(const Problem& problem, const FrontierOptions& options, const Execution& run,
                       MemorylessBracket& bracket) {
  Solution found = frontier(problem.with(problem.terms()), options, run);
  if (found.reward.bound) bracket.lower_bound_to(*found.reward.bound);
  if (found.status == Status::certified || found.status == Status::feasible)
    bracket.add(without_factors(problem, found.policy));
  bracket.offer_mixture();
  return found;
}

}  // namespace

Solution enclose(const Problem& problem, const FrontierOptions& options, const Extremes& extremes,
                 double bound, Stopwatch& watch, Workers& workers, BestPolicy& best) {
  const double most = std::min(bound, extremes.most(0, problem.start()));
  MemorylessBracket bracket(problem, options.tolerance, extremes, most, workers, best);
  Solution solution;
  solution.method = "frontier";
  bool open = bracket.run();
  if (open) {
    if (problem.constraints().size() == 1) bracket.lower_bound();
    bracket.offer_mixture();
    const Solution found = add_neighbour(problem, options, watch.rest(), bracket);
    // Who cannot keep the constraints while seeing factors cannot keep them without.
    open = found.status != Status::infeasible;
    solution.row_evaluations += found.row_evaluations;
    if (open) solution.reward.bound = bracket.bound();
  }
  solution.iterations = bracket.tried();
  solution.row_evaluations += bracket.row_evaluations();
  solution.notes.emplace_back(
      "rows share factors that nobody sees: the bracket holds the optimum, and may not be narrowed "
      "to the tolerance");
  if (open && !best.keeps_constraints())
    return stopped(problem, std::move(solution), watch, workers, std::move(best),
                   bracket.tolerance());
  solution.policy = best.take().policy;
  solution = finished(problem, std::move(solution), watch, workers, bracket.tolerance());
  if (!open) solution.status = Status::infeasible;
  return solution;
}

}  // namespace redoubt::internal
