#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

// Where arrays lie: on cache lines, in large pages, close to a core.
namespace redoubt::internal {

// Arrays that begin where a cache line does. A block of eight lanes is then one line; anywhere else
// it is two, and every load and store of it takes twice as long.
template <class Value>
struct OnCacheLine {
  using value_type = Value;
  static constexpr std::align_val_t kLine{64};

  OnCacheLine() = default;
  template <class Other>
  OnCacheLine(const OnCacheLine<Other>&) {}  // NOLINT: all of them are the same

  Value* allocate(std::size_t count) {
    return static_cast<Value*>(::operator new(count * sizeof(Value), kLine));
  }
  void deallocate(Value* first, std::size_t) { ::operator delete(first, kLine); }
  template <class Other>
  bool operator==(const OnCacheLine<Other>&) const {
    return true;
  }
};

template <class Value>
using LineVector = std::vector<Value, OnCacheLine<Value>>;

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
