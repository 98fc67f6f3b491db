#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <string>

#include "checks.h"
#include "problem_options.h"
#include "python_package.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct ReportOptions {
  ProblemOptions problem;
  std::string solution, output;
  double time_limit = 5;
};

// The words of this command, as a shell would take them.
std::string own_command() {
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  std::string command, word;
  while (std::getline(words, word, '\0')) {
    const bool plain = word.find_first_of(" ()\"'$*?<>|&;[]") == std::string::npos;
    command += command.empty() ? "redoubt" : plain ? " " + word : " \"" + word + "\"";
  }
  return command;
}

int report(const ReportOptions& options) {
  return run_python("report", read_problem(options.problem),
                    {options.solution, "-o", options.output, "--time-limit",
                     fmt::format("{}", options.time_limit), "--name", options.problem.problem,
                     "--command", own_command()});
}

}  // namespace

Action report_verb(CommandLine& verb) {
  auto options = std::make_shared<ReportOptions>();
  add_problem(verb, options->problem);
  add_solution(verb, options->solution);
  verb.add_option("-o,--output", options->output, "File to write (.html)")
      .required()
      .type_name("FILE");
  verb.add_option("--time-limit", options->time_limit, "Seconds for solving with other radii (5)")
      .check(is_number())
      .type_name("NUMBER");
  return [options] { return report(*options); };
}

}  // namespace redoubt::app
