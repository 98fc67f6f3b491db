#include <new>
#include <utility>

#include "sets/row.h"

namespace redoubt::internal {

namespace {
constexpr std::align_val_t kAlignment{64};
}

Scratch::Scratch() = default;
Scratch::~Scratch() { ::operator delete(memory_, kAlignment); }

Scratch::Scratch(Scratch&& other) noexcept { *this = std::move(other); }

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(capacity_, other.capacity_);
  work = other.work;
  return *this;
}

double* Scratch::doubles(std::size_t count) {
  if (count > capacity_) {
    ::operator delete(memory_, kAlignment);
    memory_ = nullptr;
    capacity_ = 0;
    memory_ = static_cast<double*>(::operator new(count * sizeof(double), kAlignment));
    capacity_ = count;
  }
  return memory_;
}

}  // namespace redoubt::internal
