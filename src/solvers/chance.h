#pragma once

#include <functional>
#include <string>

#include "redoubt/execution.h"
#include "redoubt/solution.h"

namespace redoubt::internal {

// A method for problems without chance constraints, with its options inside.
struct ExpectedMethod {
  std::string name;
  std::function<Solution(const Problem&, const Execution&)> solve;
  double bytes_for_each_state = 0;  // of RAM, that it takes at least
};

// Solves a problem with chance constraints as the ordinary problem that `augment` makes of it, and
// says of the policy what it does on the problem itself. `tolerance` is the relative gap that
// counts as certified.
Solution solve_augmented(const Problem& problem, const Execution& execution, double tolerance,
                         const ExpectedMethod& method);

}  // namespace redoubt::internal
