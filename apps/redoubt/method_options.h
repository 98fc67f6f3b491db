#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "redoubt/solve.h"

namespace redoubt::app {

// A method and the options of all of them; a method takes those that it has.
struct MethodOptions {
  std::string method = "rcvi";
  RcviOptions rcvi;
};

void add_rcvi(CLI::App& verb, RcviOptions& options);
void add_method(CLI::App& verb, MethodOptions& options);

Solution run_method(const Problem& problem, const MethodOptions& options,
                    const Execution& execution);

}  // namespace redoubt::app
