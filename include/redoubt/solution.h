#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "redoubt/policy.h"

namespace redoubt {

enum class Status {
  certified,   // the constraints hold in the worst case, and the gap is within the requested
               // tolerance
  feasible,    // the constraints hold; the gap is unknown or larger
  violated,    // the returned policy breaks a constraint in the worst case
  infeasible,  // proved: no policy can satisfy the constraints
  stopped,  // time limit or cancelled, and no policy is known that keeps the constraints; the best
            // that was evaluated is attached, if there is one
};
std::string_view name(Status status);

// A worst case that nobody evaluated: a solve was stopped before that.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline bool is_known(double worst) { return worst == worst; }

struct RewardResult {
  double worst = 0;  // guaranteed by the returned policy; kUnknown where there is none
  std::optional<double>
      bound;  // no policy can guarantee more, against a nature that sees the history
  std::optional<double>
      static_bound;  // the same, also against a nature that must fix its kernel in advance
  bool operator==(const RewardResult&) const = default;
};

// In the user's own sign: the total of a cost is its cost. For a chance constraint, `worst` is the
// worst-case probability.
struct ConstraintResult {
  std::string name;
  Sense sense = Sense::at_most;
  double bound = 0;
  std::optional<double> probability;
  double worst = 0;                       // kUnknown where no policy was evaluated
  bool satisfied = true;                  // known to be
  std::optional<double> best_achievable;  // of any policy, where the method knows it
  bool operator==(const ConstraintResult&) const = default;
};

// What evaluating a policy says: the worst case of the reward and of each constraint, each against
// its own nature.
struct Evaluation {
  RewardResult reward;
  std::vector<ConstraintResult> constraints;
  // Worst-case probability that a budget policy comes to a node that cannot meet its
  // budget.
  std::optional<double> hopeless;
  // False: the values for an infinite horizon were still changing when their evaluation was given
  // up. Only `tilt`, which is no contraction, can do that.
  bool converged = true;
  bool satisfied() const;
};

// One column for each quantity, one entry for each step of the method.
struct Trace {
  std::vector<double> iteration, row_evaluations, seconds, reward;
  std::vector<double> bound;  // on the reward; empty for methods without one
  std::vector<std::vector<double>>
      constraints;  // one column for each constraint, in the user's sign
  bool operator==(const Trace&) const = default;
};

// A point of the trade-off curve: constraint values that a policy can guarantee at once with this
// reward.
struct CurvePoint {
  double reward = 0;
  std::vector<double> constraints;  // in the user's sign
  std::int32_t memory =
      0;  // the solution's policy guarantees it when it starts from this memory state
  bool operator==(const CurvePoint&) const = default;
};

struct Solution {
  Status status = Status::feasible;
  std::string method;
  RewardResult reward;
  std::vector<ConstraintResult> constraints;
  std::optional<double> hopeless;
  Policy policy;
  Trace trace;
  std::vector<CurvePoint> curve;
  double seconds = 0;
  double row_evaluations = 0;   // worst cases of one row for one vector of values
  std::int64_t iterations = 0;  // backward stages, sweeps or policy updates, as the method counts
  std::optional<int> cut;       // an infinite horizon was cut after this many stages
  // The work was stopped before its end. With another status than `stopped` the answer itself was
  // there by then: its bounds hold, but a longer search might have found better ones.
  bool unfinished = false;
  std::vector<std::string> notes;  // what a user should know about this answer

  // Between what no policy can guarantee and what this one does. None when it breaks a constraint:
  // the bound speaks of policies that keep them. Zero where rounding alone makes it negative.
  std::optional<double> gap() const;
  bool operator==(const Solution&) const = default;
};

}  // namespace redoubt
