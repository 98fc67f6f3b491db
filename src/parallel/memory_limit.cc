#include "parallel/memory_limit.h"

#include <malloc.h>

#include <algorithm>

#include "parallel/collectives.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

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

double bytes_on_one_machine(const MemoryPlan& plan, Communicator& ranks) {
  return sum_on_one_machine(plan.bytes(), ranks);
}

double memory_limit(double asked) { return asked > 0 ? asked : 0.75 * machine_memory().most; }

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
  const double limit = memory_limit(asked);
  MachineMemory machine = machine_memory();
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
