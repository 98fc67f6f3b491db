#pragma once

#include <limits>

namespace redoubt {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace redoubt
