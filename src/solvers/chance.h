#pragma once

#include <functional>

#include "redoubt/execution.h"
#include "redoubt/solution.h"

namespace redoubt {

// A method for problems without chance constraints, with its options inside.
using ExpectedMethod = std::function<Solution(const Problem&, const Execution&)>;

// Solves a problem with chance constraints as the ordinary problem that `augment` makes of it, and
// says of the policy what it does on the problem itself. `tolerance` is the relative gap that
// counts as certified.
Solution solve_augmented(const Problem& problem, const Execution& execution, double tolerance,
                         const ExpectedMethod& method);

}  // namespace redoubt
