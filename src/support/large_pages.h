#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace redoubt::internal {

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;

// With pages of the usual size, looking up where a page is takes as long as reading from it, and
// filling a large array is mostly the making of pages. This is advice only, for an array that was
// not written to yet; where the system cannot follow it, pages are small.
inline void advise_large_pages([[maybe_unused]] void* first, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes > 2 * kLargePage && std::align(kLargePage, kLargePage, first, bytes) != nullptr)
    madvise(first, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
}

// The values are void.
template <class Value>
void reserve_with_large_pages(std::vector<Value>& values, std::size_t count) {
  if (count <= values.capacity()) return;
  values = {};  // what it held need not be copied
  values.reserve(count);
  advise_large_pages(values.data(), count * sizeof(Value));
}
template <class Value>
void resize_with_large_pages(std::vector<Value>& values, std::size_t count) {
  if (count * sizeof(Value) > 2 * kLargePage) reserve_with_large_pages(values, count);
  values.resize(count);
}

}  // namespace redoubt::internal
