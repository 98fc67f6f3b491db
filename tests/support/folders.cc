#include "support/folders.h"

namespace redoubt::testing {

std::filesystem::path source_folder() { return REDOUBT_SOURCE_DIR; }
std::filesystem::path binary_folder() { return REDOUBT_BINARY_DIR; }

}  // namespace redoubt::testing
