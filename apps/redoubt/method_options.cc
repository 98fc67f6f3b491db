#include "method_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "checks.h"

namespace redoubt::app {
namespace {

struct Method {
  std::string name;
  Solution (*run)(const Problem&, const MethodOptions&, const Execution&);
};

// A method is one entry here.
const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
      {"rcvi", [](const Problem& problem, const MethodOptions& options,
                  const Execution& execution) { return rcvi(problem, options.rcvi, execution); }},
      {"robust", [](const Problem& problem, const MethodOptions&,
                    const Execution& execution) { return robust(problem, execution); }},
      {"nominal", [](const Problem& problem, const MethodOptions&,
                     const Execution& execution) { return nominal(problem, execution); }},
  };
  return table;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : methods()) names.push_back(method.name);
  return names;
}

}  // namespace

void add_rcvi(CLI::App& verb, RcviOptions& options) {
  const auto number = [&](const char* flag, auto& value, const char* text) {
    return verb.add_option(flag, value, text)
        ->check(is_number())
        ->type_name("NUMBER")
        ->group("Method");
  };
  number("--slack", options.slack, "How far below its requirement a decision may stay, per stage");
  verb.add_option_function<std::string>(
          "--fallback",
          [&](const std::string& word) {
            options.fallback = word == "utility" ? Fallback::utility : Fallback::reward;
          },
          "Where no action meets the requirement: earn reward, or come close in utility")
      ->check(is_one_of({"reward", "utility"}))
      ->group("Method");
  number("--budget-step", options.budget_step, "Width of a budget cell; 0: chosen by the program");
  verb.add_option_function<std::string>(
          "--rounding",
          [&](const std::string& word) {
            options.rounding = word == "mixed" ? Rounding::mixed : Rounding::up;
          },
          "Between two budget cells: up (pessimistic) or mixed (right on average)")
      ->check(is_one_of({"up", "mixed"}))
      ->group("Method");
  number("--tolerance", options.tolerance, "Relative accuracy");
  verb.add_option("--memory-limit", options.memory_limit,
                  "Refuse to use more, such as 16GB; three quarters of the machine unless given")
      ->transform(is_memory_size())
      ->type_name("SIZE")
      ->group("Execution");
}

void add_method(CLI::App& verb, MethodOptions& options) {
  verb.add_option("--method", options.method,
                  fmt::format("One of {}", fmt::join(method_names(), ", ")))
      ->check(is_one_of(method_names()))
      ->group("Method");
  add_rcvi(verb, options.rcvi);
}

Solution run_method(const Problem& problem, const MethodOptions& options,
                    const Execution& execution) {
  const auto method = std::find_if(methods().begin(), methods().end(),
                                   [&](const Method& m) { return m.name == options.method; });
  return method->run(problem, options, execution);  // the name was checked when it was read
}

}  // namespace redoubt::app
