#pragma once

#include <string>
#include <vector>

#include "command_line.h"
#include "redoubt/frontier.h"
#include "redoubt/gradient.h"
#include "redoubt/solve.h"

namespace redoubt::app {

// A method and the options of all of them.
struct MethodOptions {
  std::string method = "frontier";
  RcviOptions rcvi;
  RobustOptions robust;
  FrontierOptions frontier;
  GradientOptions gradient;
};

void add_rcvi(CommandLine& verb, RcviOptions& options);
void add_method(CommandLine& verb, MethodOptions& options);          // --method and all options
void add_method_options(CommandLine& verb, MethodOptions& options);  // the options alone

// Error when an option was given that none of these methods has: one that would be ignored in
// silence is a misunderstanding.
void check_method_options(const CommandLine& verb, const std::vector<std::string>& chosen);

Check is_method();
bool is_gradient(const std::string& method);

Solution run_method(const Problem& problem, const MethodOptions& options,
                    const Execution& execution);

}  // namespace redoubt::app
