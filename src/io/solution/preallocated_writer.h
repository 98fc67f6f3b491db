#pragma once

#include <cstring>
#include <filesystem>
#include <vector>

#include "redoubt/policy.h"
#include "support/file.h"

namespace redoubt::internal::io {

// Fills room that was left for arrays in a file that another process has made and closed. A failure
// is kept until the end: ranks go on talking to each other until all of them are there.
class PreallocatedWriter {
 public:
  explicit PreallocatedWriter(const std::filesystem::path& path);

  // What a value takes in a file: there, nothing lies between its members.
  template <class Value>
  static constexpr std::size_t bytes_of() {
    return sizeof(Value);
  }
  template <class Value>
  void write(const std::vector<Value>& values, std::uint64_t at) {
    write_bytes(values.data(), values.size() * sizeof(Value), at);
  }
  void close();  // when all of it is on disk; an Error if anything was not written

 private:
  void write_bytes(const void* data, std::size_t bytes, std::uint64_t at);

  std::filesystem::path path_;
  OpenFile file_;
  int failure_ = 0;  // the number of the first error
};

constexpr std::size_t kMoveBytes = sizeof(std::int32_t) + sizeof(double);
template <>
constexpr std::size_t PreallocatedWriter::bytes_of<MemoryMove>() {
  return kMoveBytes;
}
template <>
inline void PreallocatedWriter::write(const std::vector<MemoryMove>& values, std::uint64_t at) {
  std::vector<char> packed(values.size() * kMoveBytes);
  char* to = packed.data();
  for (const MemoryMove& move : values) {
    std::memcpy(to, &move.memory, sizeof move.memory);
    std::memcpy(to + sizeof move.memory, &move.weight, sizeof move.weight);
    to += kMoveBytes;
  }
  write_bytes(packed.data(), packed.size(), at);
}

}  // namespace redoubt::internal::io
