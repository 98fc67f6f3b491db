#include <cstddef>
#include <cstdint>
#include <string>

#include "redoubt/error.h"
#include "sampling/simulator_lines.h"

// The first line is a simulator's hello, all others are answers to queries 0 and 1.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto end = text.find('\n');
  try {
    const redoubt::SimulatorShape shape = redoubt::internal::read_hello(text.substr(0, end));
    while (end != std::string::npos) {
      const auto begin = end + 1;
      end = text.find('\n', begin);
      redoubt::internal::read_answer(text.substr(begin, end - begin), shape,
                                     [](auto id) { return id < 2; });
    }
  } catch (const redoubt::Error&) {
  }
  return 0;
}
