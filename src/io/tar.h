#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redoubt::io {

// The files of a tar archive, plain or compressed by gzip or xz, in memory. Nothing is written to
// disk, and nothing is unpacked beyond 32 megabytes plus 100 times the archive: an Error instead.
std::map<std::string, std::string> read_tar(std::string_view archive);

// A gzip-compressed tar archive with these files, in this order; the same files give the same
// bytes.
std::string write_tar(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace redoubt::io
