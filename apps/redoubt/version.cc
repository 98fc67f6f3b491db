#include "version.h"

#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>

namespace redoubt::app {

std::string version() { return REDOUBT_VERSION; }

std::string version_text() {
  return fmt::format(
      "redoubt {}\n"
      "  with HDF5 {}, libarchive {}, nlohmann-json {}.{}.{}, fmt {}.{}.{}, CLI11 {}",
      version(), HDF5_VERSION, LIBARCHIVE_VERSION, NLOHMANN_JSON_VERSION_MAJOR,
      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, FMT_VERSION / 10000,
      FMT_VERSION / 100 % 100, FMT_VERSION % 100, CLI11_VERSION);
}

}  // namespace redoubt::app
