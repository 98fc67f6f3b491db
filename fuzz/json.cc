#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redoubt/io.h"

// Any text is a problem or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    redoubt::read_json({reinterpret_cast<const char*>(data), size}, "p.json");
  } catch (const redoubt::Error&) {
  }
  return 0;
}
