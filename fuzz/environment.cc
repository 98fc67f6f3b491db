#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redoubt/environments.h"
#include "redoubt/error.h"

namespace {

// Numbers of some digits ask for a large model, and get one. Small ones and absurd ones are left.
bool asks_for_much(std::string_view id) {
  int digits = 0;
  for (const char c : id) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit && digits >= 3 && digits <= 10) return true;
    const bool leading_zero = c == '0' && digits == 0;
    digits = is_digit && !leading_zero ? digits + 1 : 0;
  }
  return digits >= 3 && digits <= 10;
}

}  // namespace

// Any text is a built-in problem or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view id(reinterpret_cast<const char*>(data), size);
  if (asks_for_much(id)) return -1;
  try {
    redoubt::make(id);
  } catch (const redoubt::Error&) {
  }
  return 0;
}
