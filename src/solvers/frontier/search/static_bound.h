#pragma once

#include <optional>

#include "redoubt/execution.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// Nature may fix the nominal kernel in advance, and then no policy earns more than the best one of
// the nominal model.
struct StaticBound {
  std::optional<double> reward;  // none: infeasible, or stopped before the first policy
  bool infeasible = false;  // not even the nominal model has a policy that keeps the constraints
  bool stopped = false;     // before it was within the tolerance of the optimum
};
StaticBound find_static_bound(const Problem& problem, double tolerance, const Execution& execution);

}  // namespace redoubt::internal
