#include "evaluation/satisfied.h"

#include <cmath>

#include "bellman/largest_value.h"

namespace redoubt::internal {
std::vector<double> allowed_misses(const Problem& problem, Communicator& ranks) {
  std::vector<double> misses;
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    const Constraint& constraint = problem.constraints()[c];
    const double size =
        constraint.probability ? 1
        : constraint.bound != 0
            ? std::abs(constraint.bound)
            : largest_value(problem.model(), problem.signal_of(static_cast<int>(c)), ranks);
    misses.push_back(kSatisfied * size);
  }
  return misses;
}

bool satisfied(const Constraint& c, double worst, double allowed_miss) {
  if (c.probability) return worst >= *c.probability - allowed_miss;
  return c.sense == Sense::at_least ? worst >= c.bound - allowed_miss
                                    : worst <= c.bound + allowed_miss;
}

}  // namespace redoubt::internal
