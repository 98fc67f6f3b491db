#pragma once

#include <filesystem>
#include <string>

namespace redoubt::testing {

// Functions, not macros: so that what a test compiles to does not depend on where the clone is.
std::filesystem::path source_folder();  // of the repository
std::filesystem::path binary_folder();  // of the build

// A file or folder that a test writes, below the build. Its name has the number of the process:
// tests run beside each other.
std::filesystem::path own_path(const std::string& name);

}  // namespace redoubt::testing
