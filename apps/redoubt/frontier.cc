#include "redoubt/frontier.h"

#include <fmt/format.h>

#include <memory>

#include "checks.h"
#include "execution_options.h"
#include "json.h"
#include "output.h"
#include "problem_options.h"
#include "processes.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/advanced/file.h"
#include "redoubt/io.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct FrontierVerbOptions {
  ProblemOptions problem;
  FrontierOptions frontier;
  ExecutionOptions execution;
  std::string output;
  bool json = false;
};

std::string curve_csv(const Problem& problem, const Solution& solution) {
  std::string text = "reward";
  for (const Constraint& constraint : problem.constraints())
    text += "," + quantity_text(constraint);
  text += "\n";
  for (const CurvePoint& point : solution.curve) {
    text += fmt::format("{}", point.reward);
    for (const double value : point.constraints) text += fmt::format(",{}", value);
    text += "\n";
  }
  return text;
}

Json frontier_json(const Problem& problem, const Solution& solution) {
  Json object = solution_json(problem, solution);
  object["curve"] = Json::array();
  for (const CurvePoint& point : solution.curve)
    object["curve"].push_back({{"reward", point.reward}, {"constraints", point.constraints}});
  return object;
}

void print_curve(const Problem& problem, const Solution& solution) {
  Cells heading = {"reward"};
  for (const Constraint& constraint : problem.constraints())
    heading.push_back(quantity_text(constraint));
  std::vector<Cells> rows = {std::move(heading)};
  for (const CurvePoint& point : solution.curve) {
    Cells row = {number_text(point.reward)};
    for (const double value : point.constraints) row.push_back(number_text(value));
    rows.push_back(std::move(row));
  }
  fmt::print("What policies can guarantee at once, in the worst case\n");
  print_table(rows);
  fmt::print("\n");
}

int frontier(const FrontierVerbOptions& options) {
  check_path(options.output, {".csv"});
  std::optional<NeededStates> needed;
  const Problem problem = read_subproblem(options.problem, needed);
  if (!options.json) tell_needed(needed);
  const Execution run = execution(options.execution);
  const Solution solution = redoubt::frontier(problem, options.frontier, run);
  if (processes().rank() == 0) {
    if (!options.output.empty()) write_file(options.output, curve_csv(problem, solution));
    if (run.checkpoint && !solution.unfinished) run.checkpoint->remove();
  }
  if (options.json) {
    Json object = frontier_json(problem, solution);
    if (needed) object["needed"] = needed_json(*needed);
    print_json(object);
  } else {
    if (!solution.curve.empty()) print_curve(problem, solution);
    print_solution(problem, solution);
    if (!options.output.empty()) fmt::print("Curve written to {}\n", options.output);
  }
  const bool good = solution.status == Status::certified || solution.status == Status::feasible;
  return good ? kFine : kBadOutcome;
}

}  // namespace

Action frontier_verb(CommandLine& verb) {
  auto options = std::make_shared<FrontierVerbOptions>();
  options->frontier.whole_curve = true;
  add_problem(verb, options->problem);
  verb.add_option("--tolerance", options->frontier.tolerance,
                  "Relative gap between answer and bound at which to stop (0.001)")
      .check(is_number())
      .type_name("NUMBER")
      .group("Method");
  add_execution(verb, options->execution);
  add_partition(verb, options->problem);
  add_checkpoint(verb, options->execution);
  verb.add_option("-o,--output", options->output, "Write the curve (.csv)").type_name("FILE");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return frontier(*options); };
}

}  // namespace redoubt::app
