#include "evaluation/satisfied.h"

#include <algorithm>
#include <cmath>

#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

// The largest value that a signal has in any decision.
double largest_value(const Model& model, int signal, Communicator& ranks) {
  double largest = 0;
  for (Row row = 0; row < model.rows(); ++row) {
    const double own = model.value(signal, row);
    largest = std::max(largest, std::abs(own));
    if (model.outcome_values(signal).empty()) continue;
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
      largest = std::max(largest, std::abs(own + model.outcome_value(signal, i)));
  }
  for (const double arrival : model.arrival_values(signal))
    largest = std::max(largest, std::abs(arrival));
  return max_over_ranks(ranks, largest);
}

}  // namespace

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
