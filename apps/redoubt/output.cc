#include "output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "processes.h"
#include "redoubt/advanced/io.h"
#include "redoubt/error.h"

namespace redoubt::app {
void check_path(const std::string& text, const std::vector<std::string>& endings) {
  if (text.empty()) return;
  const std::filesystem::path path(text);
  if (std::find(endings.begin(), endings.end(), path.extension()) == endings.end())
    throw Error(fmt::format("{}: ending '{}', must be {}", text, path.extension().string(),
                            fmt::join(endings, " or ")));
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw Error(fmt::format("{}: folder {} does not exist, must be there", text, folder.string()));
}

void add_solution_output(CommandLine& verb, OutputOptions& options) {
  verb.add_option("-o,--output", options.solution, "Write the solution, policy included (.h5)")
      .type_name("FILE");
}

void add_policy_output(CommandLine& verb, OutputOptions& options) {
  verb.add_option("--policy", options.policy,
                  "Write the policy for other programs (.json, .csv, or .storm.json for Storm)")
      .type_name("FILE");
}

void add_policy_store(CommandLine& verb, OutputOptions& options) {
  verb.add_option("--policy-out", options.streamed,
                  "Write the solution (.h5) like -o, its stages as they are made: RAM does not "
                  "grow with the horizon")
      .type_name("FILE");
}

Option add_packing(CommandLine& verb, Packing& packing) {
  return verb.add_flag_function(
      "--uncompressed", [&packing](bool) { packing = Packing::plain; },
      "Write a .umb file that several ranks read together, each its submodel");
}

void check_outputs(const OutputOptions& options) {
  check_path(options.solution, {".h5"});
  check_path(options.streamed, {".h5"});
  check_path(options.policy, {".csv", ".json"});
  if (!options.streamed.empty() && !(options.solution.empty() && options.policy.empty()))
    throw Error("--policy-out and another output, must be given alone: it is the whole solution");
  if (!options.policy.empty() && processes().size() > 1)
    throw Error(fmt::format("--policy on {} ranks, must run on one", processes().size()));
}

std::unique_ptr<StageStore> policy_store(const OutputOptions& options) {
  if (options.streamed.empty()) return nullptr;
  return stages_on_disk(std::filesystem::absolute(options.streamed).parent_path());
}

void write_outputs(const OutputOptions& options, const Problem& problem, const Solution& solution,
                   const Execution& execution) {
  if (!is_known(solution.reward.worst)) return;  // there is no policy
  for (const std::string& path : {options.solution, options.streamed}) {
    if (!path.empty()) save_solution(solution, path, problem.model(), execution);
  }
  if (!options.policy.empty()) export_policy(problem, solution.policy, options.policy);
}

void print_outputs(const OutputOptions& options, const Solution& solution) {
  if (!is_known(solution.reward.worst)) {
    for (const std::string& path : {options.solution, options.streamed, options.policy}) {
      if (!path.empty()) fmt::print("There is nothing to write to {}\n", path);
    }
    return;
  }
  for (const std::string& path : {options.solution, options.streamed}) {
    if (!path.empty()) fmt::print("Solution written to {}\n", path);
  }
  if (!options.policy.empty()) fmt::print("Policy written to {}\n", options.policy);
}

}  // namespace redoubt::app
