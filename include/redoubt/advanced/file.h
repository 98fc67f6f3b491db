#pragma once

#include <filesystem>
#include <string_view>

namespace redoubt {

// Any text or bytes. Like every file of this library, it is written under another name in the same
// folder and renamed once it is on disk: the final name holds the old file or the whole new one.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace redoubt
