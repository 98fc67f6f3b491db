#pragma once

#include <cstddef>
#include <new>
#include <vector>

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

}  // namespace redoubt::internal
