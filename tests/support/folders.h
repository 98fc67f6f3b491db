#pragma once

#include <filesystem>

namespace redoubt::testing {

// Functions, not macros: so that what a test compiles to does not depend on where the clone is.
std::filesystem::path source_folder();  // of the repository
std::filesystem::path binary_folder();  // of the build, for files that tests write

}  // namespace redoubt::testing
