#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redoubt/io.h"

// Any text is a model or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    redoubt::read_pomdp({reinterpret_cast<const char*>(data), size}, "p.pomdp");
  } catch (const redoubt::Error&) {
  }
  return 0;
}
