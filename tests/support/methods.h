#pragma once

#include "redoubt/solve.h"

namespace redoubt::testing {

// Methods with their usual options.
inline Solution by_robust(const Problem& problem, const Execution& execution) {
  return robust(problem, {}, execution);
}
inline Solution by_nominal(const Problem& problem, const Execution& execution) {
  return nominal(problem, {}, execution);
}

}  // namespace redoubt::testing
