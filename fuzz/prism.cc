#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redoubt/io.h"

// Texts divided by zero bytes: one is a .pexp file; of several, the first are a .tra file and those
// beside it, and the last, of six, the terms.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const char* const names[] = {"p.tra", "p.sta", "p.lab", "p.srew", "p.trew"};
  std::vector<redoubt::TextFile> files;
  std::string_view terms;
  for (std::size_t i = 0;; ++i) {
    const auto end = rest.find('\0');
    if (i == 5)
      terms = rest;
    else
      files.push_back({names[i], std::string(rest.substr(0, end))});
    if (end == std::string_view::npos || i == 5) break;
    rest.remove_prefix(end + 1);
  }
  if (files.size() == 1) files[0].name = "p.pexp";
  try {
    redoubt::read_prism(files, terms, terms.empty() ? "" : "p.terms.json");
  } catch (const redoubt::Error&) {
  }
  return 0;
}
