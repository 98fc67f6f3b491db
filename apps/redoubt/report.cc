#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "checks.h"
#include "problem_options.h"
#include "redoubt/error.h"
#include "redoubt/io.h"
#include "verbs.h"

extern char** environ;

namespace redoubt::app {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  ProblemOptions problem;
  std::string solution, output;
  double time_limit = 5;
};

constexpr int kNoPackage = 3;
// The package may be there or not; an exit status of its own says so.
constexpr const char* kCall = R"_(import sys
try:
    from redoubt.__main__ import main
except ImportError:
    sys.exit(3)
sys.exit(main(sys.argv[1:])))_";

// A folder that goes with its owner.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "redoubt-report-XXXXXX") {
    std::string name = path_.string();
    if (mkdtemp(name.data()) == nullptr) throw Error(name + ": a folder cannot be made there");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Where the package that was installed with this program may be: beside it, in the environment of a
// clone, or wherever Python is found.
std::vector<std::string> pythons() {
  std::vector<std::string> found;
  if (const char* own = std::getenv("REDOUBT_PYTHON")) return {own};
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const fs::path beside = program.parent_path();
    for (const fs::path& path : {beside / "python3", beside.parent_path() / ".venv/bin/python"}) {
      if (fs::exists(path, failed)) found.push_back(path.string());
    }
  }
  found.emplace_back("python3");
  return found;
}

// The exit status of a command; kNoPackage when it cannot be started.
int status_of(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
    return kNoPackage;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return kBadOutcome;
  return WEXITSTATUS(status) == 127 ? kNoPackage : WEXITSTATUS(status);
}

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
  const Problem problem = read_problem(options.problem);
  const Folder folder;
  const std::string file = (folder.path() / "problem.umb").string();
  save(problem, file, Packing::plain);
  std::string asked;
  for (const std::string& python : pythons()) {
    const int status =
        status_of({python, "-c", kCall, "report", file, options.solution, "-o", options.output,
                   "--time-limit", fmt::format("{}", options.time_limit), "--name",
                   options.problem.problem, "--command", own_command()});
    if (status != kNoPackage) return status;
    asked += (asked.empty() ? "" : ", ") + python;
  }
  throw Error(
      fmt::format("the package redoubt for Python makes the report, must be installed for "
                  "one of {}: pip install \"redoubt-mdp[report]\"",
                  asked));
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
