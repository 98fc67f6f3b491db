#pragma once

#include <functional>
#include <string>
#include <vector>

#include "redoubt/execution.h"
#include "redoubt/solution.h"

namespace redoubt {

// A method to compare, with its options inside.
struct Contestant {
  std::string name;  // as it shall stand in the table, such as "crpo, step 0.1"
  std::function<Solution(const Problem&, const Execution&)> solve;
  // Every record of its trace is a policy of its own, as with the gradient methods. Otherwise the
  // method has one policy, at its end.
  bool iterates = false;
};

struct ComparisonLine {
  std::string name;
  Solution solution;  // with the whole trace
  // The iteration after which the method first held a policy that meets all constraints.
  std::optional<double> first_feasible;
  // Of the last policy, which need not be the one in the solution: that is the best.
  double last_reward = 0;
  std::vector<double> last_constraints;
  std::optional<double> best_reward;  // of the best policy that meets all constraints
  std::optional<double> gap;          // between the bound and best_reward
};

struct Comparison {
  // No policy that meets the constraints can guarantee more: the least of the bounds that the
  // contestants proved, or else the best reward without constraints. Infinite when that was not
  // found, either.
  double bound = 0;
  std::vector<ComparisonLine> lines;  // in the order of the contestants
};

// Solves the problem with each contestant. Each runs on one thread, as many at a time as the
// execution has threads, so that seconds are seconds of one core and comparable.
Comparison compare(const Problem& problem, const std::vector<Contestant>& contestants,
                   const Execution& execution = {});

// All traces as one table: method, iteration, row_evaluations, seconds, reward, bound, and one
// column for each constraint, named after its signal, in the user's sign. Empty where a method has
// none.
std::string trace_csv(const Problem& problem, const Comparison& comparison);

}  // namespace redoubt
