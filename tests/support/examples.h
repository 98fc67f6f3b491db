#pragma once

#include <functional>
#include <string>
#include <vector>

#include "redoubt/problem.h"
#include "redoubt/solution.h"

// Every built-in problem under every set, in sizes that the slow references can follow, and every
// method that solves them.
namespace redoubt::testing {

struct Example {
  std::string environment;
  std::string id;  // without the set
};
std::vector<Example> example_problems();  // one for each environment

struct ExampleSet {
  std::string name;
  std::string parameters;  // of an environment
};
std::vector<ExampleSet> example_sets();

Problem example_problem(const Example& example, const ExampleSet& set);

struct ExampleMethod {
  std::string name;
  std::function<Solution(const Problem&)> solve;
  // The same input gives the same numbers up to this on every machine. An iteration that stops
  // within a tolerance may stop elsewhere when roundings differ.
  double tolerance = 1e-7;
  bool takes(const ExampleSet& set) const { return name != "frontier" || set.name != "tilt"; }
};
std::vector<ExampleMethod> example_methods();

}  // namespace redoubt::testing
