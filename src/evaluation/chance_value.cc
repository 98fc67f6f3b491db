#include "evaluation/chance_value.h"

#include "chance/augment.h"
#include "chance/reachable_budgets.h"
#include "evaluation/evaluation.h"

namespace redoubt::internal {

namespace {

Problem with_one(const Problem& problem, std::size_t constraint) {
  Terms terms = problem.terms();
  terms.constraints = {problem.constraints()[constraint]};
  return problem.with(std::move(terms));
}

}  // namespace

AugmentedProblem augment_one(const Problem& problem, int constraint, Workers& workers) {
  return augment(with_one(problem, static_cast<std::size_t>(constraint)), workers);
}

void require_room_for_chance(const Problem& problem, Workers& workers) {
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    if (!problem.constraints()[c].probability) continue;
    const Problem one = with_one(problem, c);
    reached_pairs(one, ChanceBudgets(one, workers), workers, 0);
  }
}

double worst_probability(const Problem& problem, int constraint, const Policy& policy,
                         Workers& workers) {
  const AugmentedProblem augmented = augment_one(problem, constraint, workers);
  const Policy lowered = to_augmented_with_nodes(augmented, policy, workers).policy;
  const EvaluationPass pass = evaluate(augmented.problem, lowered, workers);
  return augmented.kept_at_start(0) + pass.evaluation.constraints[0].worst;
}

}  // namespace redoubt::internal
