#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace redoubt::internal {

// Bytes of RAM, as far as they concern this process.
struct MachineMemory {
  double most = 0;  // that it can have: all of the machine, or fewer where a cgroup or `ulimit -v`
                    // says so
  double held = 0;  // that it has now (resident)
};
// `root` is where /proc and /sys are.
MachineMemory machine_memory(const std::filesystem::path& root = "/");
double held_memory(const std::filesystem::path& root = "/");  // the same, without the rest

// Equal for processes on the same machine, and different on different ones as far as their names
// differ.
inline std::uint64_t machine_number() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return std::hash<std::string_view>{}(name);
}

}  // namespace redoubt::internal
