#include "model/memory.h"

#include "model/agree.h"
#include "model/machine.h"
#include "model/require.h"

namespace redoubt {

double bytes_on_one_machine(const MemoryPlan& plan, Communicator& ranks) {
  const auto machines = gather_value(ranks, machine_number());
  const auto bytes = gather_value(ranks, plan.bytes());
  double all = 0;
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    if (machines[r] == machines[ranks.rank()]) all += bytes[r];
  }
  return agree_on_max(ranks, all);
}

double memory_limit(double asked) { return asked > 0 ? asked : 0.75 * machine_memory(); }

void announce(const MemoryPlan& plan, const Execution& execution) {
  const double bytes =
      bytes_on_one_machine(plan, execution.ranks ? *execution.ranks : one_process());
  require(bytes <= memory_limit(0), "this work needs {:.3g} GB of memory, the limit is {:.3g} GB",
          bytes / 1e9, memory_limit(0) / 1e9);
  if (execution.planned) execution.planned(plan);
}

}  // namespace redoubt
