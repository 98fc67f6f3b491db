#pragma once

#include <string>
#include <vector>

#include "redoubt/problem.h"

namespace redoubt::app {

// Runs a verb that the Python package has (`python -m redoubt VERB FILE WORDS...`), with the
// problem in a file of its own, and returns its exit status. An Error where no Python has the
// package.
int run_python(const std::string& verb, const Problem& problem,
               const std::vector<std::string>& words);

}  // namespace redoubt::app
