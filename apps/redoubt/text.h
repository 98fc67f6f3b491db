#pragma once

#include <string>

#include "redoubt/execution.h"
#include "redoubt/solution.h"

namespace redoubt::app {

// Words for values.
std::string number_text(double value);            // six digits
std::string count_text(double count);             // 12,345
std::string duration_text(double seconds);        // "0.02 s", "3 min 20 s"
std::string memory_text(double bytes);            // "1.5 GB"
std::string memory_text(const MemoryPlan& plan);  // "model 1.5 GB, values 300 MB, ..."
// What a constraint bounds and how: "cost" and "at most 4", or "P(cost <= 4)" and "at least 0.9".
std::string quantity_text(const Constraint& constraint);
std::string quantity_text(const ConstraintResult& constraint);
std::string bound_text(const Constraint& constraint);
std::string bound_text(const ConstraintResult& constraint);
std::string set_text(const Uncertainty& uncertainty);
std::string state_text(const Problem& problem, State state);  // its name
std::string start_text(const Problem& problem);
std::string terms_text(const Problem& problem);

}  // namespace redoubt::app
