#pragma once

#include <optional>
#include <string>

#include "command_line.h"
#include "redoubt/execution.h"

namespace redoubt::app {

struct ExecutionOptions {
  int threads = 0;  // 0: one for each core
  std::optional<double> time_limit;
  std::optional<bool> progress;  // none: when standard error is a terminal
  std::string checkpoint;
  double checkpoint_interval = 5;
};

// For verbs that can go on where an earlier run ended.
void add_checkpoint(CommandLine& verb, ExecutionOptions& options);
void add_execution(CommandLine& verb, ExecutionOptions& options);

// Draws a bar with the time left, and turns Ctrl-C into an orderly stop: the first one ends the
// work with what there is so far, a second one ends the program.
Execution execution(const ExecutionOptions& options);

// The work is done, and what is left is to write it: from here on Ctrl-C ends the program at once.
// Files are there as a whole or not at all.
void end_interrupts();

}  // namespace redoubt::app
