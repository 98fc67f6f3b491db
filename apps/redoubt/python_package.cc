#include "python_package.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "redoubt/error.h"
#include "redoubt/io.h"
#include "verbs.h"

extern char** environ;

namespace redoubt::app {
namespace {

namespace fs = std::filesystem;

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
  Folder() : path_(fs::temp_directory_path() / "redoubt-XXXXXX") {
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

}  // namespace

int run_python(const std::string& verb, const Problem& problem,
               const std::vector<std::string>& words) {
  const Folder folder;
  const std::string file = (folder.path() / "problem.umb").string();
  save(problem, file, Packing::plain);
  std::string asked;
  for (const std::string& python : pythons()) {
    std::vector<std::string> command = {python, "-c", kCall, verb, file};
    command.insert(command.end(), words.begin(), words.end());
    const int status = status_of(command);
    if (status != kNoPackage) return status;
    asked += (asked.empty() ? "" : ", ") + python;
  }
  throw Error(fmt::format(
      "{} is done by the package redoubt for Python, which must be installed for one of "
      "{}: pip install \"redoubt-mdp[report]\"",
      verb, asked));
}

}  // namespace redoubt::app
