#pragma once

#include <fmt/format.h>

#include <utility>

#include "redoubt/error.h"

namespace redoubt::internal {

// Throws an Error with this text unless the rule holds. The text names the thing, its value and the
// rule.
template <class... Args>
void require(bool rule, fmt::format_string<Args...> text, Args&&... args) {
  if (!rule) throw Error(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace redoubt::internal
