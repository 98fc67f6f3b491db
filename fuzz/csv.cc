#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redoubt/io.h"

// The text up to the first zero byte is the table, the rest, if there is any, its terms. Samples of
// rows are read both ways.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\0');
  for (const auto posterior : {redoubt::Posterior::mean, redoubt::Posterior::scenarios}) {
    try {
      if (end == std::string_view::npos)
        redoubt::read_csv(text, "p.csv", posterior);
      else
        redoubt::read_csv(text.substr(0, end), "p.csv", text.substr(end + 1), "p.terms.json",
                          posterior);
    } catch (const redoubt::Error&) {
    }
  }
  return 0;
}
