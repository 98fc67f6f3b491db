#pragma once

#include "redoubt/execution.h"
#include "redoubt/frontier.h"
#include "redoubt/solution.h"
#include "sampling/two_sides.h"

namespace redoubt::internal {

// Both sides of what is known, and what was found for each: a policy for the one that is no better
// than the truth, a bound and the policy behind it for the other.
//
// The policies that are best for the reward alone come first. Where they keep the constraints they
// are the answer, and without a search what they earn is a bound in any case.
class SolvedSides {
 public:
  // `sought` are the terms of the policy, `asked` those of the bound. Throws Stopped.
  SolvedSides(const KnownRows& known, const Terms& sought, const Terms& asked,
              const Execution& execution);

  // Whether a constraint is in the way of one of them, so that a search would say more.
  bool open() const { return !(policy_at_once_ && bound_at_once_); }
  // Proved without a search: no search would leave less of a gap than that, nor prove that no
  // policy keeps the constraints. Some policy of the problem of the bound keeps them and has more
  // than any one of the other problem, by that much. Throws Stopped.
  bool is_wider_than(double gap, const Execution& execution) const;
  // By `frontier`, where a constraint is in the way. Throws Stopped, and leaves what there was.
  void search(const FrontierOptions& options, const Execution& execution);

  const Problem& problem() const { return problem_; }
  const OptimisticProblem& upper() const { return upper_; }
  const Solution& policy() const { return policy_; }
  const Solution& bound() const { return bound_; }
  // What both solves left open of the gap.
  double left_open() const;

  // Of each row to the gap, see add_contributions.
  std::vector<double> contributions(const RowCounts& counts) const;
  void set_policy(Solution policy) { policy_ = std::move(policy); }
  void lower_bound_to(double bound);

 private:
  Problem problem_;
  OptimisticProblem upper_;
  Solution policy_, bound_;
  bool policy_at_once_ = false, bound_at_once_ = false;
};

}  // namespace redoubt::internal
