#include <fmt/format.h>

#include <memory>

#include "execution_options.h"
#include "redoubt/error.h"
#include "redoubt/io.h"
#include "sampling_options.h"
#include "table.h"
#include "text.h"
#include "verbs.h"
#include "version.h"

namespace redoubt::app {
namespace {

struct EstimateVerb {
  ProblemOptions problem;
  SamplingOptions sampling;
  ExecutionOptions execution;
  std::string output;
  bool json = false;
};

int estimate_problem(const EstimateVerb& options) {
  const std::string& output = options.output;
  if (!options.problem.problem.empty() && options.sampling.data.empty() &&
      !options.sampling.samples)
    throw Error("--samples is missing, must say how many samples of each row to draw");
  const SampledProblem sampled =
      read_or_sample(options.problem, options.sampling, execution(options.execution));
  if (output.empty()) {
    fmt::print("{}", write_json(sampled.problem));
    remove_temporary_store(sampled);
    return kFine;
  }
  save(sampled.problem, output);
  remove_temporary_store(sampled);
  if (options.json) {
    Json object = problem_json(sampled.problem);
    add_sampling_json(object, sampled);
    object["output"] = output;
    object["version"] = version();
    print_json(object);
    return kFine;
  }
  print_sampling(sampled);
  fmt::print("Problem: {} states, {}\nWrote {}\n", count_text(sampled.problem.model().states()),
             terms_text(sampled.problem), output);
  if (!options.sampling.store.empty()) fmt::print("Samples are in {}\n", options.sampling.store);
  return kFine;
}

}  // namespace

Action estimate_verb(CommandLine& verb) {
  auto options = std::make_shared<EstimateVerb>();
  add_optional_problem(verb, options->problem);
  add_sampling(verb, options->sampling);
  verb.add_option("--seed", options->sampling.seed, "Of the samples")
      .type_name("NUMBER")
      .group("Samples");
  add_execution(verb, options->execution);
  verb.add_option(
          "-o,--output", options->output,
          "File (.json, .csv, .umb, .drn, .tra or .pexp); standard output, as JSON, unless given")
      .type_name("FILE");
  verb.add_flag("--json", options->json, "Print one JSON object about it; needs -o");
  return [options] { return estimate_problem(*options); };
}

}  // namespace redoubt::app
