#pragma once

#include "numerics/lanes.h"

namespace redoubt::internal::REDOUBT_TARGET {

[[gnu::always_inline]] inline Lanes between(Lanes x, double low, double high) {
  return min(max(x, low), high);
}
[[gnu::always_inline]] inline Mask inside(Lanes x, double low, double high) {
  return (x > low) & (x < high);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
