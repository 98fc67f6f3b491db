#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace redoubt::internal {

// FNV-1a, 64 bits: finds torn and damaged records, and tells models apart. Not meant against
// somebody who wants to fool it.
class Checksum {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * kPrime;
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
  static constexpr std::uint64_t kPrime = 1099511628211U;
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace redoubt::internal
