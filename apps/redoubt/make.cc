#include <fmt/format.h>

#include <memory>

#include "output.h"
#include "problem_options.h"
#include "redoubt/io.h"
#include "verbs.h"

namespace redoubt::app {

Action make_verb(CommandLine& verb) {
  struct Options {
    ProblemOptions problem;
    std::string output;
    Packing packing = Packing::gzip;
  };
  auto options = std::make_shared<Options>();
  add_problem(verb, options->problem, "ENV");
  verb.add_option(
          "-o,--output", options->output,
          "File (.json, .csv, .umb, .drn, .tra or .pexp); standard output, as JSON, unless given")
      .type_name("FILE");
  add_packing(verb, options->packing).needs(verb.get_option("--output"));
  return [options] {
    const Problem problem = read_problem(options->problem);
    if (options->output.empty()) {
      fmt::print("{}", write_json(problem));
      return kFine;
    }
    save(problem, options->output, options->packing);
    fmt::print("Wrote {}\n", options->output);
    return kFine;
  };
}

}  // namespace redoubt::app
