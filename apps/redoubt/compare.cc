#include "redoubt/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "execution_options.h"
#include "json.h"
#include "method_options.h"
#include "output.h"
#include "problem_options.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/advanced/file.h"
#include "redoubt/error.h"
#include "redoubt/io.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct CompareOptions {
  ProblemOptions problem;
  MethodOptions method;  // options for all of them
  std::vector<std::string> methods = {"rcvi", "rnpg", "crpo"};
  std::vector<double> steps;  // of the gradient methods, one contestant each
  ExecutionOptions execution;
  std::string output;
  bool json = false;
};

std::vector<Contestant> contestants(const CompareOptions& options) {
  std::vector<Contestant> list;
  for (const std::string& name : options.methods) {
    MethodOptions own = options.method;
    own.method = name;
    const auto add = [&](const std::string& label) {
      list.push_back({label,
                      [own](const Problem& problem, const Execution& execution) {
                        return run_method(problem, own, execution);
                      },
                      is_gradient(name)});
    };
    if (!is_gradient(name) || options.steps.empty()) {
      add(name);
      continue;
    }
    for (const double step : options.steps) {
      own.gradient.step = step;
      add(fmt::format("{}, step {}", name, step));
    }
  }
  return list;
}

std::string or_dash(const std::optional<double>& value, std::string (*text)(double)) {
  return value ? text(*value) : "-";
}

void print(const Problem& problem, const Comparison& comparison) {
  Cells heading = {"method", "status", "first feasible", "last reward"};
  for (const Constraint& c : problem.constraints()) heading.push_back("last " + quantity_text(c));
  for (const char* text : {"best reward", "gap", "row evaluations", "time"})
    heading.emplace_back(text);
  std::vector<Cells> rows = {std::move(heading)};
  for (const ComparisonLine& line : comparison.lines) {
    Cells row = {line.name, std::string(name(line.solution.status)),
                 or_dash(line.first_feasible, count_text), number_text(line.last_reward)};
    for (const double worst : line.last_constraints) row.push_back(number_text(worst));
    row.push_back(or_dash(line.best_reward, number_text));
    row.push_back(or_dash(line.gap, number_text));
    row.push_back(count_text(line.solution.row_evaluations));
    row.push_back(duration_text(line.solution.seconds));
    rows.push_back(std::move(row));
  }
  fmt::print("{}\n", terms_text(problem));
  for (const Constraint& c : problem.constraints())
    fmt::print("Asked for: {} {}\n", quantity_text(c), bound_text(c));
  fmt::print("No policy that keeps the constraints guarantees more than {}\n\n",
             number_text(comparison.bound));
  print_table(rows);
  fmt::print(
      "\nFirst feasible: the iteration after which a policy met all constraints. Last: of the "
      "last\n"
      "policy. Best reward: of the best policy that meets all constraints, and its gap to the "
      "bound.\n");
}

Json comparison_json(const Problem& problem, const Comparison& comparison) {
  Json object = problem_json(problem);
  object["bound"] = comparison.bound;
  object["methods"] = Json::array();
  for (const ComparisonLine& line : comparison.lines) {
    Json entry;
    entry["name"] = line.name;
    entry["status"] = name(line.solution.status);
    entry["first_feasible"] = or_null(line.first_feasible);
    entry["last_reward"] = line.last_reward;
    entry["last_constraints"] = line.last_constraints;
    entry["best_reward"] = or_null(line.best_reward);
    entry["gap"] = or_null(line.gap);
    entry["row_evaluations"] = line.solution.row_evaluations;
    entry["seconds"] = line.solution.seconds;
    object["methods"].push_back(std::move(entry));
  }
  return object;
}

// Made before the work begins: an hour of solving must not end at a folder that cannot be.
void make_folder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(fmt::format("folder '{}': {}", folder, failure.message()));
}

bool is_complete(const Comparison& comparison) {
  return std::none_of(comparison.lines.begin(), comparison.lines.end(),
                      [](const auto& line) { return line.solution.unfinished; });
}

int compare_methods(const CompareOptions& options) {
  const Problem problem = read_problem(options.problem);
  const std::vector<Contestant> list = contestants(options);
  if (!options.output.empty()) make_folder(options.output);
  const Execution run = execution(options.execution);
  const Comparison comparison = compare(problem, list, run);
  const Json summary = comparison_json(problem, comparison);
  if (options.json) {
    print_json(summary);
  } else {
    print(problem, comparison);
  }
  if (!options.output.empty()) {
    const std::filesystem::path folder = options.output;
    write_file(folder / "traces.csv", trace_csv(problem, comparison));
    write_file(folder / "summary.json", summary.dump(2) + "\n");
    if (!options.json) fmt::print("Wrote {0}/traces.csv and {0}/summary.json\n", options.output);
  }
  if (run.checkpoint && is_complete(comparison)) run.checkpoint->remove();
  return kFine;
}

// An option needs one method that has it, not all: the others may have nothing like it.
void check_options(const CommandLine& verb, const CompareOptions& options) {
  check_method_options(verb, options.methods);
  const bool steps = std::any_of(options.methods.begin(), options.methods.end(), is_gradient);
  if (!steps && !options.steps.empty())
    throw Error(fmt::format("--steps has no meaning for method {}, must be left out",
                            fmt::join(options.methods, " or ")));
}

}  // namespace

Action compare_verb(CommandLine& verb) {
  auto options = std::make_shared<CompareOptions>();
  add_problem(verb, options->problem);
  verb.add_option("--methods", options->methods, "Methods, such as rcvi,rnpg,crpo")
      .delimiter(',')
      .check(is_method())
      .group("Method");
  add_method_options(verb, options->method);
  verb.add_option("--steps", options->steps,
                  "Step sizes, such as .001,.01,.1: each gradient method runs with each of them")
      .delimiter(',')
      .type_name("NUMBERS")
      .group("Gradient methods");
  add_execution(verb, options->execution);
  add_checkpoint(verb, options->execution);
  verb.add_option("-o,--output", options->output, "Folder for traces.csv and summary.json")
      .type_name("DIR");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options, &verb] {
    check_options(verb, *options);
    return compare_methods(*options);
  };
}

}  // namespace redoubt::app
