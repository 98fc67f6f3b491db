#pragma once

#include <string>
#include <string_view>

namespace redoubt::internal::io {

// The text in bytes that gzip or xz may have packed; others are returned as they are. What would
// unpack to more than 32 megabytes plus 100 times its size is an Error.
std::string unpacked(std::string bytes);

// Packed by "gzip" or "xz"; the same text gives the same bytes.
std::string packed(std::string_view text, const char* filter);

}  // namespace redoubt::internal::io
