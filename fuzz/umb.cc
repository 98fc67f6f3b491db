#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string_view>

#include "redoubt/io.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Any bytes are a model or an Error. The corpus is of plain tar files: packed ones would mostly
// test the unpacking.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    redoubt::read_umb({reinterpret_cast<const char*>(data), size}, "p.umb");
  } catch (const redoubt::Error&) {
  }
  return 0;
}

// A header of tar has a checksum, without which hardly any change would get past the first header.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned) {
  constexpr std::size_t block = 512, magic = 257, sum = 148, sum_bytes = 8;
  size = LLVMFuzzerMutate(data, size, most);
  for (std::size_t at = 0; at + block <= size; at += block) {
    std::uint8_t* header = data + at;
    if (std::memcmp(header + magic, "ustar", 5) != 0) continue;
    std::memset(header + sum, ' ', sum_bytes);
    char text[sum_bytes];
    std::snprintf(text, sizeof text, "%06o", std::accumulate(header, header + block, 0u));
    std::memcpy(header + sum, text, sum_bytes - 1);
  }
  return size;
}
