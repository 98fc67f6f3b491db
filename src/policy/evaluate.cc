#include "redoubt/evaluate.h"

#include <algorithm>
#include <cmath>

#include "model/agree.h"
#include "model/memory.h"
#include "model/near_order.h"
#include "policy/check.h"
#include "policy/evaluation.h"

namespace redoubt {

bool satisfied(const Constraint& c, double worst) {
  if (c.probability) return worst >= *c.probability - kSatisfied;
  const double slack = kSatisfied * (c.bound == 0 ? 1.0 : std::abs(c.bound));
  return c.sense == Sense::at_least ? worst >= c.bound - slack : worst <= c.bound + slack;
}

bool Evaluation::satisfied() const {
  return std::all_of(constraints.begin(), constraints.end(),
                     [](const ConstraintResult& c) { return c.satisfied; });
}

namespace {

// What a next state is worth is read for the memory states of the widest stage, for the reward and
// every constraint. An infinite horizon goes on with its last stage until nothing changes.
ValueReads reads_of(const Problem& problem, const Policy& policy, Communicator& ranks) {
  const double stages =
      problem.infinite() ? std::log(1e-12) / std::log(problem.discount()) : problem.horizon();
  const double memory = agree_on_max(ranks, static_cast<double>(policy.memory_states()));
  return {8 * memory * (1.0 + static_cast<double>(problem.constraints().size())), stages};
}

}  // namespace

Evaluation evaluate(const Problem& problem, const Policy& policy, const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  check_policy(problem, policy, workers.ranks());
  MemoryPlan plan = plan_evaluation(problem, policy, workers);
  const double room = memory_limit(0) - bytes_on_one_machine(plan, workers.ranks());
  const Problem near =
      in_near_order(problem, reads_of(problem, policy, workers.ranks()), room, execution);
  plan.model = bytes_of_both(problem, near);
  announce(plan, execution);
  return evaluate(near, policy, workers, false, nullptr, &watch).evaluation;
}

}  // namespace redoubt
