#include "method_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "checks.h"
#include "gradient_options.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/error.h"

namespace redoubt::app {
namespace {

using Words = std::vector<std::string>;

struct Method {
  std::string name;
  Solution (*run)(const Problem&, const MethodOptions&, const Execution&);
  Words flags;  // that it understands
  bool gradient = false;
  bool takes_ranks = false;  // solves subproblems
};

template <Solution (*Run)(const Problem&, const GradientOptions&, const Execution&)>
Solution run_gradient(const Problem& problem, const MethodOptions& options,
                      const Execution& execution) {
  return Run(problem, options.gradient, execution);
}

template <Solution (*Run)(const Problem&, const GradientOptions&, const Execution&)>
Method gradient(const std::string& name, const Words& own) {
  Words flags = {"--step", "--iterations", "--first-policy", "--tolerance"};
  flags.insert(flags.end(), own.begin(), own.end());
  return {name, run_gradient<Run>, flags, true};
}

// A method is one entry here.
const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
      {"rcvi",
       [](const Problem& problem, const MethodOptions& options, const Execution& execution) {
         return rcvi(problem, options.rcvi, execution);
       },
       {"--slack", "--fallback", "--budget-step", "--rounding", "--tolerance", "--memory-limit"},
       false,
       true},
      {"frontier",
       [](const Problem& problem, const MethodOptions& options, const Execution& execution) {
         return frontier(problem, options.frontier, execution);
       },
       {"--tolerance", "--memory-limit"},
       false,
       true},
      {"robust",
       [](const Problem& problem, const MethodOptions& options, const Execution& execution) {
         return robust(problem, options.robust, execution);
       },
       {"--tolerance"},
       false,
       true},
      {"nominal",
       [](const Problem& problem, const MethodOptions& options, const Execution& execution) {
         return nominal(problem, options.robust, execution);
       },
       {"--tolerance"},
       false,
       true},
      gradient<rnpg>("rnpg", {"--rule", "--weight"}),
      gradient<crpo>("crpo", {"--slack"}),
      gradient<epirc>("epirc", {"--inner"}),
      gradient<rppg>("rppg", {"--rule", "--weight"}),
      gradient<primal_dual>("primal-dual", {"--dual-step"}),
      gradient<rrpo>("rrpo", {"--slack"}),
  };
  return table;
}

Words method_names() {
  Words names;
  for (const Method& method : methods()) names.push_back(method.name);
  return names;
}

const Method& find(const std::string& name) {  // the name was checked when it was read
  return *std::find_if(methods().begin(), methods().end(),
                       [&](const Method& method) { return method.name == name; });
}

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void check_method_options(const CommandLine& verb, const std::vector<std::string>& chosen) {
  const auto known = [&](const std::string& flag) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const std::string& method) {
      return contains(find(method).flags, flag);
    });
  };
  for (const Method& method : methods()) {
    for (const std::string& flag : method.flags) {
      if (!verb.has(flag) || known(flag)) continue;
      throw Error(fmt::format("{} has no meaning for method {}, must be left out", flag,
                              fmt::join(chosen, " or ")));
    }
  }
}

void add_rcvi(CommandLine& verb, RcviOptions& options) {
  const auto number = [&](const char* flag, auto& value, const char* text) {
    return verb.add_option(flag, value, text)
        .check(is_number())
        .type_name("NUMBER")
        .group("Method");
  };
  number("--slack", options.slack, "How far a decision may fall short of its budget, per stage");
  verb.add_option_function(
          "--fallback",
          [&](const std::string& word) {
            options.fallback = word == "utility" ? Fallback::utility : Fallback::reward;
          },
          "Where no action meets the budget: earn reward, or come close in utility")
      .check(is_one_of({"reward", "utility"}))
      .group("Method");
  number("--budget-step", options.budget_step, "Width of a budget cell; 0: chosen by the program");
  verb.add_option_function(
          "--rounding",
          [&](const std::string& word) {
            options.rounding = word == "mixed" ? Rounding::mixed : Rounding::up;
          },
          "Between two budget cells: up (pessimistic) or mixed (right on average)")
      .check(is_one_of({"up", "mixed"}))
      .group("Method");
  number("--tolerance", options.tolerance, "Relative accuracy; each method has its own default");
  verb.add_option("--memory-limit", options.memory_limit,
                  "Refuse to use more, such as 16GB; three quarters of the machine unless given")
      .transform(is_memory_size())
      .type_name("SIZE")
      .group("Execution");
}

void add_method_options(CommandLine& verb, MethodOptions& options) {
  add_rcvi(verb, options.rcvi);
  add_gradient(verb, options.gradient);
  // What more than one method takes goes to each of them, and each keeps its own default.
  const auto share = [&](const char* flag, double& value) {
    verb.get_option(flag).each([&](const std::string& text) { value = *to_number(text); });
  };
  share("--slack", options.gradient.slack);
  share("--tolerance", options.gradient.tolerance);
  share("--tolerance", options.frontier.tolerance);
  share("--tolerance", options.robust.tolerance);
  share("--memory-limit", options.frontier.memory_limit);
}

void add_method(CommandLine& verb, MethodOptions& options) {
  verb.add_option("--method", options.method,
                  fmt::format("One of {} (frontier)", fmt::join(method_names(), ", ")))
      .check(is_method())
      .group("Method");
  add_method_options(verb, options);
}

Check is_method() { return is_one_of(method_names()); }

bool is_gradient(const std::string& method) { return find(method).gradient; }

Solution run_method(const Problem& problem, const MethodOptions& options,
                    const Execution& execution) {
  const Method& method = find(options.method);
  if (execution.ranks && !method.takes_ranks)
    throw Error(fmt::format("method {} on {} ranks, must run on one", method.name,
                            execution.ranks->size()));
  return method.run(problem, options, execution);
}

}  // namespace redoubt::app
