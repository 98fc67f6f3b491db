#pragma once

#include <filesystem>
#include <vector>

#include "redoubt/io.h"

namespace redoubt::internal::io {

// NAME.tra and the files beside it that belong to it: NAME.sta, NAME.lab, NAME.srew, NAME.trew, and
// NAME1.srew, NAME1.trew and so on, in the order of their numbers.
std::vector<TextFile> files_beside(const std::filesystem::path& tra);

// An Error where a file beside would be read together with those that are to be written.
void require_no_others(const std::filesystem::path& tra, const std::vector<TextFile>& written);

}  // namespace redoubt::internal::io
