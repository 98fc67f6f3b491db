#pragma once

#include <filesystem>

#include "redoubt/advanced/ranks.h"
#include "redoubt/execution.h"

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

// What the ranks of one machine plan to need together, where that is most: they share its RAM.
double bytes_on_one_machine(const MemoryPlan& plan, Communicator& ranks);

// The bytes that a process may have: what was asked for or, where that is zero, three quarters of
// this machine.
double memory_limit(double asked);

// What is left of that for work, beside what this process holds already.
double memory_room();

// Bytes that a process will have when work is under way: what the plan says, and what it holds
// already beside the model, which the plan counts.
double bytes_with_plan(const MemoryPlan& plan, const MachineMemory& machine);

// An Error when the plan of this process, together with what it holds already, is above its limit
// (of all processes of a machine together). `work`, "this solve", is the subject of the text and
// `advice` its end. Where no limit was asked for, a plan of less than a megabyte always fits.
void require_memory(const MemoryPlan& plan, Communicator& ranks, double asked,
                    std::string_view work = "this work", std::string_view advice = "");
// The same with the numbers of another machine.
void require_memory(const MemoryPlan& plan, Communicator& ranks, double limit,
                    const MachineMemory& machine, std::string_view work, std::string_view advice);

// Tells the caller what this process will need. An Error when that is above the limit.
void announce(const MemoryPlan& plan, const Execution& execution, double asked = 0);

// Whether `more` bytes beside what this process holds now stay within the limit (of all processes
// of a machine together). Every rank calls it.
bool has_room(double more, double limit, Communicator& ranks);

}  // namespace redoubt::internal
