#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/execution.h"
#include "redoubt/io.h"
#include "redoubt/solution.h"

namespace redoubt::app {

// Files that a verb writes besides what it prints. Checked before the work begins: an hour of
// solving must not end at a folder that does not exist.
struct OutputOptions {
  std::string solution;  // HDF5, for evaluate, verify and simulate
  std::string streamed;  // the same, written while solving
  std::string policy;    // for other programs
};

void add_solution_output(CommandLine& verb, OutputOptions& options);
void add_policy_output(CommandLine& verb, OutputOptions& options);
void add_policy_store(CommandLine& verb, OutputOptions& options);

// How a verb that writes a problem packs it.
Option add_packing(CommandLine& verb, Packing& packing);

// Throws unless the ending is one of these and the folder exists. An empty path is not asked for.
void check_path(const std::string& text, const std::vector<std::string>& endings);

void check_outputs(const OutputOptions& options);
// Where the stages of the policy go while it is made; null: into memory.
std::unique_ptr<StageStore> policy_store(const OutputOptions& options);
void write_outputs(const OutputOptions& options, const Problem& problem, const Solution& solution,
                   const Execution& execution);
void print_outputs(const OutputOptions& options, const Solution& solution);

}  // namespace redoubt::app
