#include "redoubt/evaluate.h"

#include <algorithm>

#include "evaluation/evaluation.h"
#include "parallel/memory_limit.h"
#include "policy/check.h"

namespace redoubt {
using namespace internal;

bool Evaluation::satisfied() const {
  return std::all_of(constraints.begin(), constraints.end(),
                     [](const ConstraintResult& c) { return c.satisfied; });
}

Evaluation evaluate(const Problem& problem, const Policy& policy, const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  check_policy(problem, policy, workers.ranks());
  announce(plan_evaluation(problem, policy, workers), execution);
  return evaluate(problem, policy, workers, false, nullptr, &watch).evaluation;
}

}  // namespace redoubt
