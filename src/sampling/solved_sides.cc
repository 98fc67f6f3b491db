#include "sampling/solved_sides.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "evaluation/evaluation.h"
#include "evaluation/satisfied.h"
#include "numerics/infinity.h"
#include "redoubt/error.h"
#include "redoubt/solve.h"
#include "sampling/allocation.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {
namespace {

Solution finished(Solution solution) {
  if (solution.unfinished) throw Stopped("stopped while a round was solved");
  return solution;
}

Problem without_constraints(const Problem& problem) {
  Terms terms = problem.terms();
  terms.constraints.clear();
  return problem.with(std::move(terms));
}

// What some policy earns that keeps the constraints: `most`, which is the best for the reward, or
// where that breaks the only constraint a mixture of it and the best for the constraint. (Nature
// sees which of them was drawn, so the totals of a mixture are the mixture of their totals.)
std::optional<double> reward_within_constraints(const Problem& problem, const Solution& most,
                                                const Execution& execution) {
  if (all_satisfied(most.constraints)) return most.reward.worst;
  if (problem.constraints().size() > 1 || problem.constraints()[0].probability) return {};
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  const Channel channel = channel_of(problem, 0);
  const Policy policy = value_iteration(problem, channel, workers).policy;
  const Evaluation safest = evaluate(problem, policy, workers).evaluation;
  if (!safest.satisfied()) return {};
  const ConstraintResult &broken = most.constraints[0], &kept = safest.constraints[0];
  const double share = (broken.bound - broken.worst) / (kept.worst - broken.worst);
  return most.reward.worst + share * (safest.reward.worst - most.reward.worst);
}

}  // namespace

SolvedSides::SolvedSides(const KnownRows& known, const Terms& sought, const Terms& asked,
                         const Execution& execution)
    : problem_(pessimistic_problem(known, sought)),
      upper_(optimistic_problem(known, asked)),
      policy_(finished(robust(problem_, {}, execution))),
      bound_(finished(robust(upper_.problem, {}, execution))),
      policy_at_once_(all_satisfied(policy_.constraints)),
      bound_at_once_(all_satisfied(bound_.constraints)) {}

bool SolvedSides::is_wider_than(double gap, const Execution& execution) const {
  if (!policy_.reward.bound || !bound_.reward.bound) return false;
  const std::optional<double> reached =
      reward_within_constraints(upper_.problem, bound_, execution);
  return reached && std::min(*reached, *bound_.reward.bound) - *policy_.reward.bound > gap;
}

void SolvedSides::search(const FrontierOptions& options, const Execution& execution) {
  Solution policy, bound;
  if (!policy_at_once_) policy = finished(frontier(problem_, options, execution));
  if (!bound_at_once_) bound = finished(frontier(upper_.problem, options, execution));
  if (!policy_at_once_) policy_ = std::move(policy);
  if (bound_at_once_) return;
  if (bound.reward.bound) bound.reward.bound = std::min(*bound.reward.bound, *bound_.reward.bound);
  bound_ = std::move(bound);
}

double SolvedSides::left_open() const {
  double sum = 0;
  for (const Solution* side : {&policy_, &bound_})
    if (side->reward.bound) sum += *side->reward.bound - side->reward.worst;
  return sum;
}

std::vector<double> SolvedSides::contributions(const RowCounts& counts) const {
  std::vector<double> contribution(counts.shape().rows(), 0.0);
  std::vector<Row> same(contribution.size());
  std::iota(same.begin(), same.end(), Row{0});
  // A constraint that is kept at once has no part in the gap.
  const auto add = [&](const Problem& problem, bool at_once, const Solution& solution,
                       const std::vector<Row>& origin) {
    add_contributions(at_once ? without_constraints(problem) : problem, solution.policy, origin,
                      counts, contribution);
  };
  add(problem_, policy_at_once_, policy_, same);
  add(upper_.problem, bound_at_once_, bound_, upper_.origin);
  return contribution;
}

void SolvedSides::lower_bound_to(double bound) {
  if (bound_.reward.bound) bound_.reward.bound = std::min(*bound_.reward.bound, bound);
}

}  // namespace redoubt::internal
