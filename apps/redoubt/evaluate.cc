#include "redoubt/evaluate.h"

#include <fmt/format.h>

#include <memory>

#include "execution_options.h"
#include "json.h"
#include "output.h"
#include "problem_options.h"
#include "rank_plans.h"
#include "redoubt/io.h"
#include "table.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct EvaluateOptions {
  ProblemOptions problem;
  std::string solution;
  ExecutionOptions execution;
  OutputOptions output;
  bool json = false;
};

int evaluate(const EvaluateOptions& options) {
  check_outputs(options.output);
  Execution run = execution(options.execution);
  MemoryOfRanks memory(options.json);
  run.planned = [&](const MemoryPlan& mine) { memory.hear(mine); };
  std::optional<NeededStates> needed;
  const Problem problem = read_subproblem(options.problem, needed);
  if (!options.json) tell_needed(needed);
  const Solution solution = load_solution(options.solution, problem.model());
  const Evaluation evaluation = redoubt::evaluate(problem, solution.policy, run);
  write_outputs(options.output, problem, solution, run);
  if (options.json) {
    Json object = evaluation_json(problem, evaluation);
    memory.add_to(object);
    if (needed) object["needed"] = needed_json(*needed);
    print_json(object);
  } else {
    print_evaluation(problem, evaluation);
    print_outputs(options.output, solution);
  }
  return evaluation.satisfied() ? kFine : kBadOutcome;
}

}  // namespace

Action evaluate_verb(CommandLine& verb) {
  auto options = std::make_shared<EvaluateOptions>();
  add_problem(verb, options->problem);
  add_nature(verb, options->problem);
  add_solution(verb, options->solution);
  add_execution(verb, options->execution);
  add_partition(verb, options->problem);
  add_policy_output(verb, options->output);
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return evaluate(*options); };
}

}  // namespace redoubt::app
