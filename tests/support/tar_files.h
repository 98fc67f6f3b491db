#pragma once

#include <map>
#include <string>
#include <string_view>

namespace redoubt::testing {

// All files of a tar archive, to be changed and written again.
std::map<std::string, std::string> tar_files(std::string_view archive);

}  // namespace redoubt::testing
