#pragma once

#include "command_line.h"
#include "redoubt/gradient.h"

namespace redoubt::app {

// The options that only the gradient methods have; slack and tolerance they share with others.
void add_gradient(CommandLine& verb, GradientOptions& options);

}  // namespace redoubt::app
