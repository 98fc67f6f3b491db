#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

namespace redoubt {

// Bytes of memory that this process can have: those of the machine, or fewer where `ulimit -v` says
// so.
inline double machine_memory() {
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return machine;
  return std::min(machine, static_cast<double>(limit.rlim_cur));
}

// Equal for processes on the same machine, and different on different ones as far as their names
// differ.
inline std::uint64_t machine_number() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return std::hash<std::string_view>{}(name);
}

}  // namespace redoubt
