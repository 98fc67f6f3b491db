#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "checks.h"
#include "problem_options.h"
#include "python_package.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct AggregateOptions {
  ProblemOptions problem;
  std::string labels, tolerance, most_cells, output;
  bool json = false;
};

int aggregate(const AggregateOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--labels", options.labels);
  add("--tolerance", options.tolerance);
  add("--most-cells", options.most_cells);
  add("-o", options.output);
  if (options.json) words.emplace_back("--json");
  return run_python("aggregate", read_problem(options.problem), words);
}

}  // namespace

Action aggregate_verb(CommandLine& verb) {
  auto options = std::make_shared<AggregateOptions>();
  add_problem(verb, options->problem);
  verb.add_option("--labels", options->labels,
                  "File with one word for each state: states with the same word are a cell. Not "
                  "given: states that are equally many steps away from a reward")
      .type_name("FILE");
  verb.add_option("--tolerance", options->tolerance,
                  "Split cells until the gap is this share of the bound")
      .check(is_number())
      .type_name("NUMBER");
  verb.add_option("--most-cells", options->most_cells, "Split cells until there are so many")
      .check(is_number())
      .type_name("NUMBER");
  verb.add_option("-o,--output", options->output, "File for the policy of the problem (.json)")
      .type_name("FILE");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return aggregate(*options); };
}

}  // namespace redoubt::app
