#pragma once

#include <optional>

#include "redoubt/execution.h"
#include "redoubt/problem.h"

namespace redoubt {

// Nature may fix the nominal kernel in advance, and then no policy earns more than the best one of
// the nominal model. At any prices of the constraints, the policy that is best for the reward plus
// the priced utilities bounds that (weak duality); the least of these bounds is the optimum.
struct StaticBound {
  std::optional<double> reward;  // none: stopped before the first prices
  bool stopped = false;          // before it was within the tolerance of the optimum
};
StaticBound find_static_bound(const Problem& problem, double tolerance, const Execution& execution);

}  // namespace redoubt
