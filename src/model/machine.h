#pragma once

#include <unistd.h>

namespace redoubt {

// Bytes of memory of this machine.
inline double machine_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace redoubt
