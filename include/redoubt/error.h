#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace redoubt {

// Bad input: a model, an option or a file that breaks a rule. The text names the thing, its value
// and the rule. A bad *outcome* (an infeasible problem, a time limit) is never an Error: it is a
// status of the solution.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller asked to stop, or the time was up, before there was anything to return. Solvers never
// throw it: they return the best so far.
class Stopped : public Error {
 public:
  using Error::Error;
};

// The known words within two edits of `word`, for errors that ask "did you mean"; two edits are the
// most that a typing slip should cost.
std::vector<std::string> near_matches(std::string_view word, const std::vector<std::string>& known);

}  // namespace redoubt
