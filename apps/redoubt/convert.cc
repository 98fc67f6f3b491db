#include <fmt/format.h>

#include <memory>

#include "output.h"
#include "problem_options.h"
#include "redoubt/io.h"
#include "redoubt/reorder.h"
#include "verbs.h"

namespace redoubt::app {

Action convert_verb(CommandLine& verb) {
  struct Options {
    ProblemOptions problem;
    std::string output;
    Packing packing = Packing::gzip;
    bool reordered = false;
  };
  auto options = std::make_shared<Options>();
  add_problem(verb, options->problem, "IN");
  verb.add_option("OUT", options->output, "File to write; its ending chooses the format")
      .required()
      .type_name("");
  add_packing(verb, options->packing);
  verb.add_flag(
      "--reorder", options->reordered,
      "Number the states so that rows lead to near ones, which saves time on a large model "
      "numbered badly; a state without a name gets its old number as its name");
  return [options] {
    if (options->reordered)
      save(reorder(read_problem(options->problem)), options->output, options->packing);
    else
      save(read_draft(options->problem), options->output, options->packing);
    fmt::print("Wrote {}\n", options->output);
    return kFine;
  };
}

}  // namespace redoubt::app
