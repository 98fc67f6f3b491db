#include "evaluation/satisfied.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bellman/over_states.h"
#include "redoubt/solution.h"

namespace redoubt {

std::string_view name(Status status) {
  constexpr std::array kNames = {"certified", "feasible", "violated", "infeasible", "stopped"};
  return kNames[static_cast<std::size_t>(status)];
}

std::vector<double> internal::allowed_misses(const Problem& problem, Communicator& ranks) {
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

bool internal::all_satisfied(const std::vector<ConstraintResult>& constraints) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [](const ConstraintResult& c) { return c.satisfied; });
}
bool Evaluation::satisfied() const { return internal::all_satisfied(constraints); }

bool internal::satisfied(const Constraint& c, double worst, double allowed_miss) {
  if (c.probability) return worst >= *c.probability - allowed_miss;
  return c.sense == Sense::at_least ? worst >= c.bound - allowed_miss
                                    : worst <= c.bound + allowed_miss;
}

}  // namespace redoubt
