#pragma once

#include <stdexcept>
#include <string>

namespace redoubt {

// Bad input: a model, an option or a file that breaks a rule. The text names the thing, its value
// and the rule. A bad *outcome* (an infeasible problem, a time limit) is never an Error: it is a
// status of the solution.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace redoubt
