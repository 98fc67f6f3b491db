#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace redoubt::internal {

// A sum of 64 bits that finds torn and damaged records, and tells models apart. Each step is a
// bijection of the running sum, so that changing any one word changes the result. Not meant against
// somebody who wants to fool it.
class Checksum {
 public:
  // Eight bytes at a time; an end of fewer counts as if zeros followed. What is added in pieces
  // has the sum of the whole where all pieces but the last have a multiple of eight bytes.
  void add(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
      value_ = std::rotl((value_ ^ word) * 0x9E3779B97F4A7C15u, 29);
    }
  }
  template <class Value>
  requires std::is_arithmetic_v<Value>
  void add(Value value) {
    add(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  }
  template <class Values>
  void add_all(const Values& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const auto& value : values) add(value);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x5851F42D4C957F2Du;
};

}  // namespace redoubt::internal
