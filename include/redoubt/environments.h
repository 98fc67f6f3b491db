#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redoubt/problem.h"

namespace redoubt {

struct ParameterInfo {
  std::string name;
  std::string default_value;  // as it would be written in an id
  std::string description;    // one line
};

struct EnvironmentInfo {
  std::string name;
  std::string description;                // one line
  std::vector<ParameterInfo> parameters;  // its own first, then those that every environment takes
};

// The built-in problems, in the order of the documentation (docs/environments.md).
std::vector<EnvironmentInfo> environments();

// A built-in problem by its id: `name` or `name(key=value,key=value)`, such as `river_swim` or
// `garnet(states=50,successors=4,seed=1)`. An unknown name, an unknown or repeated parameter, a bad
// value or a malformed id is an Error. The same id gives the same problem everywhere.
Problem make(std::string_view id);

}  // namespace redoubt
