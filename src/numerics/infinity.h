#pragma once

#include <limits>

namespace redoubt::internal {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace redoubt::internal
