#include "parallel/memory_limit.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "parallel/collectives.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

namespace fs = std::filesystem;

constexpr double kShareOfMachine = 0.75;
// Bytes. To look at the machine takes longer than work of this size does.
constexpr double kFitsAnywhere = 1e6;

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

// Equal for processes on the same machine, and different on different ones as far as their names
// differ.
std::uint64_t machine_number() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return std::hash<std::string_view>{}(name);
}

// Of the ranks on this machine.
double sum_on_one_machine(double mine, Communicator& ranks) {
  const auto machines = all_gather_one(ranks, machine_number());
  const auto bytes = all_gather_one(ranks, mine);
  double all = 0;
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    if (machines[r] == machines[ranks.rank()]) all += bytes[r];
  }
  return max_over_ranks(ranks, all);
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

double bytes_on_one_machine(const MemoryPlan& plan, Communicator& ranks) {
  return sum_on_one_machine(plan.bytes(), ranks);
}

double memory_limit(double asked) {
  return asked > 0 ? asked : kShareOfMachine * machine_memory().most;
}

double memory_room() {
  malloc_trim(0);  // what was freed, and not given back, is no loss
  return std::max(0.0, memory_limit(0) - machine_memory().held);
}

double bytes_with_plan(const MemoryPlan& plan, const MachineMemory& machine) {
  return plan.bytes() + std::max(0.0, machine.held - plan.model);
}

void require_memory(const MemoryPlan& plan, Communicator& ranks, double limit,
                    const MachineMemory& machine, std::string_view work, std::string_view advice) {
  const double all = sum_on_one_machine(bytes_with_plan(plan, machine), ranks);
  if (all <= limit) return;
  const double planned = sum_on_one_machine(plan.bytes(), ranks), held = all - planned;
  const std::string beside =
      held > 0.01 * all
          ? fmt::format(" beside the {:.3g} GB that the process holds already", held / 1e9)
          : "";
  throw Error(fmt::format("{} needs {:.3g} GB of RAM{}, the limit is {:.3g} GB{}{}", work,
                          planned / 1e9, beside, limit / 1e9, advice.empty() ? "" : ": ", advice));
}

void require_memory(const MemoryPlan& plan, Communicator& ranks, double asked,
                    std::string_view work, std::string_view advice) {
  if (asked == 0 && ranks.size() == 1 && plan.bytes() <= kFitsAnywhere) return;
  MachineMemory machine = machine_memory();
  const double limit = asked > 0 ? asked : kShareOfMachine * machine.most;
  if (bytes_with_plan(plan, machine) > limit / 2) {
    malloc_trim(0);
    machine = machine_memory();
  }
  require_memory(plan, ranks, limit, machine, work, advice);
}

void announce(const MemoryPlan& plan, const Execution& execution, double asked) {
  require_memory(plan, execution.ranks ? *execution.ranks : one_process(), asked);
  if (execution.planned) execution.planned(plan);
}

bool has_room(double more, double limit, Communicator& ranks) {
  const auto fits = [&] { return sum_on_one_machine(held_memory() + more, ranks) <= limit; };
  if (fits()) return true;
  malloc_trim(0);
  return fits();
}

}  // namespace redoubt::internal
