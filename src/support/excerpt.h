#pragma once

#include <string>
#include <string_view>

namespace redoubt::internal {

// Text from outside for the text of an error: an error is a line that people read, and what a file
// holds may be of any length.
inline std::string excerpt(std::string_view text, std::size_t most = 60) {
  std::string shown(text.substr(0, most));
  if (text.size() > most) shown.replace(most - 3, 3, "...");
  return shown;
}

}  // namespace redoubt::internal
