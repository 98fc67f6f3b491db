#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "redoubt/error.h"

namespace redoubt::internal {

// Throws an Error with this text unless the rule holds. The text names the thing, its value and the
// rule.
template <class... Args>
void require(bool rule, fmt::format_string<Args...> text, Args&&... args) {
  if (!rule) throw Error(fmt::format(text, std::forward<Args>(args)...));
}

// Text from outside for the text of an error: an error is a line that people read, and what a file
// holds may be of any length.
inline std::string excerpt(std::string_view text, std::size_t most = 60) {
  std::string shown(text.substr(0, most));
  if (text.size() > most) shown.replace(most - 3, 3, "...");
  return shown;
}

}  // namespace redoubt::internal
