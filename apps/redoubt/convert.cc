#include <fmt/format.h>

#include <memory>

#include "output.h"
#include "problem_options.h"
#include "redoubt/io.h"
#include "verbs.h"

namespace redoubt::app {

Action convert_verb(CLI::App& verb) {
  struct Options {
    ProblemOptions problem;
    std::string output;
    Packing packing = Packing::gzip;
  };
  auto options = std::make_shared<Options>();
  add_problem(verb, options->problem, "IN");
  verb.add_option("OUT", options->output, "File to write; its ending chooses the format")
      ->required()
      ->type_name("");
  add_packing(verb, options->packing);
  return [options] {
    save(read_problem(options->problem), options->output, options->packing);
    fmt::print("Wrote {}\n", options->output);
    return kFine;
  };
}

}  // namespace redoubt::app
