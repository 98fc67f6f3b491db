#pragma once

#include <string>
#include <string_view>

namespace redoubt::internal {

// Text from outside for the text of an error: an error is a line that people read, and what a file
// holds may be of any length.
inline std::string excerpt(std::string_view text, std::size_t most = 60) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, most - 3)) + "...";
}

}  // namespace redoubt::internal
