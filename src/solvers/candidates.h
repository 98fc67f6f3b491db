#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parallel/workers.h"
#include "redoubt/execution.h"
#include "redoubt/problem.h"
#include "redoubt/solution.h"

// Policies that are evaluated while a solve goes on, and the best of them: what a solve that is
// stopped returns.
namespace redoubt::internal {

struct EvaluatedPolicy {
  Policy policy;
  Evaluation evaluation;
  std::vector<CurvePoint> curve;  // of the policy, where it has one
  std::string origin;             // "the policy attached is ..."; empty: a note says it already
};

// Keeps the best policy that it is offered: one that keeps the constraints before one that breaks
// any, then the larger reward; of those that break some, the one whose largest violation is least.
// The first of equals stays.
class BestPolicy {
 public:
  // `scales`, one for each constraint: the unit in which its violation counts. Empty: 1.
  explicit BestPolicy(std::vector<double> scales = {}) : scales_(std::move(scales)) {}

  void set_scales(std::vector<double> scales) { scales_ = std::move(scales); }
  void offer(EvaluatedPolicy candidate);
  const std::optional<EvaluatedPolicy>& best() const { return best_; }
  EvaluatedPolicy take() { return std::move(*best_); }  // where there is one
  bool keeps_constraints() const { return best_ && best_->evaluation.satisfied(); }

 private:
  bool is_better(const Evaluation& one, const Evaluation& other) const;

  std::vector<double> scales_;
  std::optional<EvaluatedPolicy> best_;
};

// By how much a worst case misses its bound; nothing where it is satisfied, infinite where it is
// unknown.
double shortfall(const ConstraintResult& constraint);

// The policy that is best for one channel alone: the reward (-1), or a constraint.
EvaluatedPolicy best_for_one(const Problem& problem, int constraint, Policy policy,
                             Evaluation evaluation);

// Evaluates a policy and offers it. Chance constraints, which may take longer than there is time,
// come last: a stop in between leaves the policy with these unknown. Throws Stopped.
void offer_unevaluated(const Problem& problem, EvaluatedPolicy candidate, Workers& workers,
                       BestPolicy& evaluated);

// Finds and offers the policies that are best for one channel alone, the safest for the first
// constraint before all others. Throws Stopped.
void offer_best_for_one(const Problem& problem, Workers& workers, BestPolicy& evaluated);

// The best of these for a solve whose time is limited, which may have to be content with it: as far
// as a fifth of that time takes us. Without a limit, nothing. Throws Stopped when the caller asks
// for it.
BestPolicy candidates_in_time(const Problem& problem, const Execution& execution);

// An RCVI on a coarse grid of budgets, if there is time and memory for it: a policy that looks at
// what it has spent, for a small part of what a search costs. Throws Stopped when the caller asks
// for it.
std::optional<EvaluatedPolicy> quick_rcvi(const Problem& problem, const Execution& execution);

}  // namespace redoubt::internal
