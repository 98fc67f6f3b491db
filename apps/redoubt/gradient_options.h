#pragma once

#include <CLI/CLI.hpp>

#include "redoubt/gradient.h"

namespace redoubt::app {

// The options that only the gradient methods have; slack and tolerance they share with others.
void add_gradient(CLI::App& verb, GradientOptions& options);

}  // namespace redoubt::app
