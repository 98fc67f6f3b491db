#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/large_pages.h"

namespace redoubt::internal {

// Layers of values are read row by row of a model, here and there: a large one is waited for, again
// and again, unless its pages are large and values are prefetched.

// True when so many values are more than the caches next to a core hold.
inline bool is_far_away(std::size_t values) {
  constexpr std::size_t kNear = std::size_t{2} << 20;
  return values * sizeof(double) > kNear;
}
inline bool is_far_away(const std::vector<double>& values) { return is_far_away(values.size()); }

// Starts to bring values closer, and does not wait for them.
template <class Value>
void fetch(const Value* values, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(Value);
  for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(values + i, 0, 2);
  __builtin_prefetch(values + count - 1, 0, 2);
}

}  // namespace redoubt::internal
