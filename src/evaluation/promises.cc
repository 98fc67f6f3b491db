#include "evaluation/promises.h"

#include <algorithm>

#include "evaluation/evaluation.h"
#include "policy/memory_update.h"

namespace redoubt::internal {

Promises::Promises(const Problem& problem, const Policy& policy)
    : policy_(&policy), channels_(1 + problem.constraints().size()) {
  Terms terms = problem.terms();
  for (Constraint& constraint : terms.constraints) constraint.probability.reset();
  Workers workers(Execution{});
  values_ = evaluate(problem.with(std::move(terms)), policy, workers, true).values;
}

std::int32_t Promises::best_memory(int stage, State state) const {
  const int known = std::min(stage, static_cast<int>(values_.size()) - 1);
  const auto memories = static_cast<std::int32_t>(memory_of(*policy_, known, state));
  const auto nodes = node_count(*policy_, known);
  const double* first = values_[known].data() + node_of(*policy_, known, state, 0);
  std::vector<double> least(memories, channels_ == 1 ? 0.0 : 1.0);
  for (std::size_t c = 1; c < channels_; ++c) {
    const double* promised = first + c * nodes;
    const auto [low, high] = std::minmax_element(promised, promised + memories);
    for (std::int32_t m = 0; m < memories && *low < *high; ++m)
      least[m] = std::min(least[m], (promised[m] - *low) / (*high - *low));
  }
  std::int32_t best = 0;
  for (std::int32_t m = 1; m < memories; ++m) {
    if (least[m] > least[best] || (least[m] == least[best] && first[m] > first[best])) best = m;
  }
  return best;
}

}  // namespace redoubt::internal
