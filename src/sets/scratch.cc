#include <initializer_list>
#include <new>
#include <utility>

#include "sets/row.h"

namespace redoubt::internal {

namespace {
constexpr std::align_val_t kAlignment{64};
}

Scratch::Scratch() = default;
Scratch::~Scratch() {
  for (const Room& room : {room_, more_})  // asking first is faster than deleting nothing
    if (room.memory != nullptr) ::operator delete(room.memory, kAlignment);
}

Scratch::Scratch(Scratch&& other) noexcept { *this = std::move(other); }

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(room_, other.room_);
  std::swap(more_, other.more_);
  work = other.work;
  return *this;
}

double* Scratch::grown(Room& room, std::size_t count) {
  if (count > room.capacity) {
    ::operator delete(room.memory, kAlignment);
    room = {};
    room.memory = static_cast<double*>(::operator new(count * sizeof(double), kAlignment));
    room.capacity = count;
  }
  return room.memory;
}

double* Scratch::doubles(std::size_t count) { return grown(room_, count); }
double* Scratch::more_doubles(std::size_t count) { return grown(more_, count); }

}  // namespace redoubt::internal
