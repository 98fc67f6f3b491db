#pragma once

#include <span>
#include <vector>

#include "model/strong_components.h"
#include "parallel/workers.h"
#include "redoubt/model.h"

namespace redoubt::internal {

// The rows of states under one kernel. Those of state s are state_rows[s] up to the next entry
// (none: an episode ends there); row r earns earned[r] and leads to next[k] with probability[k],
// for k from begin[r] up to begin[r + 1].
struct KernelRows {
  std::span<const Row> state_rows;
  std::span<const std::int64_t> begin;
  std::span<const State> next;
  std::span<const double> probability;
  std::span<const double> earned;

  State states() const { return static_cast<State>(state_rows.size()) - 1; }
};

// The largest (or least) totals until episodes end, without a discount, for one kernel. Strongly
// connected components are solved one after the other, each when all that it leads to is known: one
// state at once, several by policy iteration, in which a few are eliminated and many are swept over
// until their values hardly change. What it finds is close; whoever needs a bound proves it.
class KernelTotals {
 public:
  // `use`: of each row, whether it may be taken; empty: all may. `accuracy`: of the values, of the
  // largest of their component.
  KernelTotals(const KernelRows& rows, std::span<const char> use, bool least, double accuracy,
               Workers& workers)
      : rows_(rows), use_(use), sign_(least ? -1 : 1), accuracy_(accuracy), workers_(workers) {}

  // `values`: near the answer, if anything is known of it. `actions`: of each state the position of
  // a row among its own (-1: it has none); where some policies never end, taking these must make
  // every episode end. Both are replaced.
  void solve(std::vector<double>& values, std::vector<std::int32_t>& actions);

 private:
  bool may_use(Row row) const { return use_.empty() || use_[row] != 0; }
  void find_components();
  void solve_alone(State s, std::vector<double>& values, std::vector<std::int32_t>& actions);

  const KernelRows rows_;
  const std::span<const char> use_;
  const double sign_;
  const double accuracy_;
  Workers& workers_;
  StrongComponents components_;
  double unit_ = 0;  // the largest value of a decision
};

}  // namespace redoubt::internal
