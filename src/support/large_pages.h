#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace redoubt::internal {

// With pages of the usual size, looking up where a page is takes as long as reading from it, and
// filling a large array is mostly the making of pages. This is advice only; where the system cannot
// follow it, pages are small. The values are void.
template <class Value>
void resize_with_large_pages(std::vector<Value>& values, std::size_t count) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t kLargePage = std::size_t{1} << 21;
  if (count > values.capacity() && count * sizeof(Value) > 2 * kLargePage) {
    values = {};  // what it held need not be copied
    values.reserve(count);
    void* first = values.data();
    std::size_t bytes = count * sizeof(Value);
    if (std::align(kLargePage, kLargePage, first, bytes) != nullptr)
      madvise(first, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  }
#endif
  values.resize(count);
}

}  // namespace redoubt::internal
