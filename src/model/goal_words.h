#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redoubt::internal {

// What the words of goal.h say.
struct Goal {
  enum class Kind { reach, avoid, until, steps, total };
  Kind kind = Kind::reach;
  std::string label;
  std::string before = {};  // until
  std::string signal = {};  // total
  bool operator==(const Goal&) const = default;
};

// None: the text is not that of a goal.
std::optional<Goal> parse_goal(std::string_view text);

}  // namespace redoubt::internal
