#include "solvers/frontier/search/static_bound.h"

#include "solvers/column_generation/column_generation.h"

namespace redoubt::internal {

StaticBound find_static_bound(const Problem& problem, double tolerance,
                              const Execution& execution) {
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  const Problem nominal = problem.with(std::move(terms));
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  const NominalOptimum found =
      generate_columns(nominal, {.tolerance = tolerance, .keep_policies = false}, workers, watch);
  using End = NominalOptimum::End;
  StaticBound bound;
  bound.infeasible = found.end == End::infeasible;
  bound.stopped = found.end == End::stopped;
  if (!bound.infeasible) bound.reward = found.bound;
  return bound;
}

}  // namespace redoubt::internal
