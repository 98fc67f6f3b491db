#include "support/folders.h"

#include <unistd.h>

namespace redoubt::testing {

std::filesystem::path source_folder() { return REDOUBT_SOURCE_DIR; }
std::filesystem::path binary_folder() { return REDOUBT_BINARY_DIR; }

std::filesystem::path own_path(const std::string& name) {
  return binary_folder() / ("process-" + std::to_string(::getpid()) + "-" + name);
}

}  // namespace redoubt::testing
