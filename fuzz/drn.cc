#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redoubt/io.h"

// The text up to the first zero byte is the model, the rest, if there is any, its terms.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\0');
  try {
    if (end == std::string_view::npos)
      redoubt::read_drn(text, "p.drn");
    else
      redoubt::read_drn(text.substr(0, end), "p.drn", text.substr(end + 1), "p.terms.json");
  } catch (const redoubt::Error&) {
  }
  return 0;
}
