#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "redoubt/frontier.h"
#include "redoubt/gradient.h"
#include "redoubt/solve.h"

namespace redoubt::app {

// A method and the options of all of them. `solve` refuses options that the method does not have.
struct MethodOptions {
  std::string method = "rcvi";
  RcviOptions rcvi;
  FrontierOptions frontier;
  GradientOptions gradient;
  const CLI::App* verb = nullptr;  // knows which options were given; none: no check
};

void add_rcvi(CLI::App& verb, RcviOptions& options);
void add_method(CLI::App& verb, MethodOptions& options);          // --method and all options
void add_method_options(CLI::App& verb, MethodOptions& options);  // the options alone

CLI::Validator is_method();
bool is_gradient(const std::string& method);

Solution run_method(const Problem& problem, const MethodOptions& options,
                    const Execution& execution);

}  // namespace redoubt::app
