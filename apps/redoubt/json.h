#pragma once

#include <nlohmann/json.hpp>

#include "redoubt/solution.h"

namespace redoubt::app {

// What programs read: one object, keys in a fixed order, numbers to the last bit; null where there
// is no number.
using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json problem_json(const Problem& problem);  // sizes and terms
Json reward_json(const RewardResult& reward, const std::optional<double>& gap);
Json constraints_json(const std::vector<ConstraintResult>& constraints);
Json evaluation_json(const Problem& problem, const Evaluation& evaluation);
Json solution_json(const Problem& problem, const Solution& solution);

void print_json(const Json& object);

}  // namespace redoubt::app
