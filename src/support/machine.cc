#include "support/machine.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace redoubt::internal {
namespace {

namespace fs = std::filesystem;

// The first number of a file; nothing where it has none, such as "max".
double read_number(const fs::path& path, double nothing) {
  std::ifstream in(path);
  double number = 0;
  return in >> number ? number : nothing;
}

// The limits of a cgroup and of those around it, which hold for it, too.
double least_limit(const fs::path& top, fs::path group, const char* file, double most) {
  for (group = group.relative_path();; group = group.parent_path()) {
    most = std::min(most, read_number(top / group / file, most));
    if (group.empty()) return most;
  }
}

// Lines are "0::/path" for version 2, and "4:memory:/path" for version 1. In a container the path
// may be the one outside of it; its own limits are at the top then.
double cgroup_limit(const fs::path& root, double most) {
  const fs::path top = root / "sys/fs/cgroup";
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) most = least_limit(top, group, "memory.max", most);
    if (controllers == "memory")
      most = least_limit(top / "memory", group, "memory.limit_in_bytes", most);
  }
  return most;
}

}  // namespace

MachineMemory machine_memory(const fs::path& root) {
  const auto page = static_cast<double>(sysconf(_SC_PAGE_SIZE));
  MachineMemory memory;
  memory.most = cgroup_limit(root, static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page);
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    memory.most = std::min(memory.most, static_cast<double>(limit.rlim_cur));
  memory.held = held_memory(root);
  return memory;
}

double held_memory(const fs::path& root) {
  std::ifstream in(root / "proc/self/statm");  // sizes in pages: all, and resident
  double all = 0, resident = 0;
  return in >> all >> resident ? resident * static_cast<double>(sysconf(_SC_PAGE_SIZE)) : 0;
}

}  // namespace redoubt::internal
