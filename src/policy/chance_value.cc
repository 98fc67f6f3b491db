#include "policy/chance_value.h"

#include "policy/augment.h"
#include "policy/evaluation.h"

namespace redoubt {

AugmentedProblem augment_one(const Problem& problem, int constraint, Workers& workers) {
  Terms terms = problem.terms();
  terms.constraints = {problem.constraints()[constraint]};
  return augment(problem.with(std::move(terms)), workers);
}

double worst_probability(const Problem& problem, int constraint, const Policy& policy,
                         Workers& workers) {
  const AugmentedProblem augmented = augment_one(problem, constraint, workers);
  const Policy lowered = lower_with_nodes(augmented, policy, workers).policy;
  const EvaluationPass pass = evaluate(augmented.problem, lowered, workers);
  return augmented.kept_at_start(0) + pass.evaluation.constraints[0].worst;
}

}  // namespace redoubt
