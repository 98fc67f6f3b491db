#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace redoubt::internal {

// Layers of values are read row by row of a model, here and there: a large one is waited for, again
// and again, unless its pages are large and values are prefetched.

// With pages of the usual size, looking up where a page is takes as long as reading from it. This
// is advice only; where the system cannot follow it, pages are small. The values are void.
inline void resize_with_large_pages(std::vector<double>& values, std::size_t count) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t kLargePage = std::size_t{1} << 21;
  if (count > values.capacity() && count * sizeof(double) > 2 * kLargePage) {
    values = {};  // what it held need not be copied
    values.reserve(count);
    void* first = values.data();
    std::size_t bytes = count * sizeof(double);
    if (std::align(kLargePage, kLargePage, first, bytes) != nullptr)
      madvise(first, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  }
#endif
  values.resize(count);
}

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
