#include "bellman/state_batch.h"

namespace redoubt::internal {

StateBatch::StateBatch(const Problem& problem)
    : problem_(&problem),
      radius_(nature_of_rows(problem).radius),
      floor_(lands_anywhere(problem)),
      lanes_(problem.uncertainty(), floor_) {}

}  // namespace redoubt::internal
