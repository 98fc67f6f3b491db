#pragma once

#include <optional>
#include <string>
#include <vector>

#include "redoubt/solution.h"

namespace redoubt::app {

// What people read. All rows have as many cells as the first, which is the heading; a column of
// numbers is aligned to the right.
using Cells = std::vector<std::string>;
void print_table(const std::vector<Cells>& rows);

// Reward and constraints of a policy, one line each, and what else is known of it.
void print_worst_cases(const Problem& problem, const RewardResult& reward,
                       const std::vector<ConstraintResult>& constraints,
                       const std::optional<double>& hopeless, const std::optional<double>& gap);
void print_first_decisions(const Problem& problem, const Policy& policy);
void print_evaluation(const Problem& problem, const Evaluation& evaluation);
void print_solution(const Problem& problem, const Solution& solution);

}  // namespace redoubt::app
