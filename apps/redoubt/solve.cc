#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "checks.h"
#include "execution_options.h"
#include "json.h"
#include "method_options.h"
#include "output.h"
#include "problem_options.h"
#include "processes.h"
#include "rank_plans.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/frontier.h"
#include "sampling_options.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct SolveOptions {
  ProblemOptions problem;
  SamplingOptions sampling;
  MethodOptions method;
  ExecutionOptions execution;
  OutputOptions output;
  bool certify = false;
  bool json = false;
};

int solve(const SolveOptions& options) {
  check_outputs(options.output);
  Execution run = execution(options.execution);
  const auto store = policy_store(options.output);
  run.stages = store.get();
  MemoryOfRanks memory(options.json), for_bounds(options.json);
  run.planned = [&](const MemoryPlan& mine) { memory.hear(mine); };
  SamplingOptions sampling = options.sampling;
  sampling.seed = options.method.gradient.seed;
  const SampledProblem sampled = read_or_sample(options.problem, sampling, run);
  const Problem& problem = sampled.problem;
  if (!options.json) tell_needed(sampled.needed);
  Solution solution = run_method(problem, options.method, run);
  if (options.certify) {
    Execution rest = run;
    rest.time_limit = std::max(0.0, run.time_limit - solution.seconds);
    rest.planned = [&](const MemoryPlan& mine) { for_bounds.hear(mine); };
    if (run.checkpoint) rest.checkpoint = run.checkpoint->part("certify");
    certify(problem, solution, {}, rest);
  }
  end_interrupts();
  write_outputs(options.output, problem, solution, run);
  // The answer is safe. Work that was stopped may be taken up again.
  if (!solution.unfinished) {
    if (run.checkpoint && processes().rank() == 0) run.checkpoint->remove();
    remove_temporary_store(sampled);
  }
  if (options.json) {
    Json object = solution_json(problem, solution);
    memory.add_to(object);
    if (sampled.needed) object["needed"] = needed_json(*sampled.needed);
    add_sampling_json(object, sampled);
    print_json(object);
  } else {
    print_solution(problem, solution);
    print_sampling(sampled);
    print_outputs(options.output, solution);
  }
  const bool good = solution.status == Status::certified || solution.status == Status::feasible;
  return good ? kFine : kBadOutcome;
}

}  // namespace

Action solve_verb(CommandLine& verb) {
  auto options = std::make_shared<SolveOptions>();
  add_optional_problem(verb, options->problem);
  add_nature(verb, options->problem);
  add_sampling(verb, options->sampling);
  add_method(verb, options->method);
  add_execution(verb, options->execution);
  add_partition(verb, options->problem);
  add_checkpoint(verb, options->execution);
  add_solution_output(verb, options->output);
  add_policy_output(verb, options->output);
  add_policy_store(verb, options->output);
  verb.add_flag("--certify", options->certify,
                "Add the bound that no policy can beat, proved by the frontier method")
      .group("Method");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options, &verb] {
    check_method_options(verb, {options->method.method});
    return solve(*options);
  };
}

}  // namespace redoubt::app
