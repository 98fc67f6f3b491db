#pragma once

#include <functional>
#include <string>
#include <vector>

#include "redoubt/advanced/ranks.h"
#include "redoubt/execution.h"
#include "redoubt/policy.h"
#include "redoubt/problem.h"
#include "redoubt/solution.h"

// Problems solved in parts, by ranks that are threads of this process.
namespace redoubt::testing {

struct Configuration {
  int ranks = 1, threads = 1;
  bool scattered = false;  // the states of a rank lie anywhere, not in one block
};
// 1 to 4 ranks with 1 and 2 threads each, in blocks, and some that are scattered.
const std::vector<Configuration>& configurations();
Partition division_of(const Problem& problem, const Configuration& configuration);
Problem part_for(const Problem& problem, const Configuration& configuration, int rank);
std::string name(const Configuration& configuration);

// What every rank did with its part, in the order of the ranks.
using SolvePart = std::function<Solution(const Problem& part, const Execution& execution)>;
std::vector<Solution> solve_on_ranks(const Problem& problem, const Configuration& configuration,
                                     const SolvePart& solve);

// The policy as each of several ranks reads it from a file, and all parts together again.
std::vector<Policy> stored_parts(const Problem& problem, const Policy& policy,
                                 const Configuration& configuration);
Policy join_policies(const std::vector<Solution>& parts, bool scattered = false);

// Every configuration has the answer of one process, to the last bit.
void expect_same_on_ranks(const Problem& problem, const SolvePart& solve);
// The same of evaluating policies that ranks have read from a file, each its own part.
void expect_same_evaluation(const Problem& problem, const Policy& policy);

}  // namespace redoubt::testing
