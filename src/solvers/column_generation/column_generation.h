#pragma once

#include <optional>

#include "redoubt/solution.h"
#include "solvers/column_generation/weighted_value_iteration.h"
#include "solvers/gap_tolerance.h"
#include "solvers/solver_checkpoint.h"

namespace redoubt::internal {

// The optimum of the nominal model under constraints on expectations. At fixed prices of the
// constraints it is a plain value iteration, and by weak duality a bound. The best mixture of the
// policies found so far, a small linear program, says which prices to try next (column generation,
// as Dantzig and Wolfe have it); it ends when they lead to nothing better.
struct Column {
  std::vector<double> weights;  // of the channels
  std::vector<double> totals;   // of the policy that is best for them
  Policy policy;                // memoryless; empty where policies are not kept
};

struct NominalOptimum {
  enum class End {
    converged,   // no policy is better than the mixture, as far as this finds out
    infeasible,  // proved: no policy meets the constraints
    stopped,
  };
  End end = End::converged;
  std::vector<Column> columns;
  std::vector<double> mixture;              // the share of each column
  bool reachable = false;                   // the mixture meets the constraints
  std::optional<double> bound;              // no policy that meets them has more reward
  std::vector<std::optional<double>> best;  // of each constraint's channel, where it was asked for
  GapTolerance tolerance;
  Trace trace;
  double row_evaluations = 0;
};

struct ColumnGenerationOptions {
  double tolerance = 1e-3;    // as in GapTolerance
  bool keep_policies = true;  // false: the bound is all that is wanted
  bool whole_curve = false;   // with one constraint: go on along the whole trade-off
};

// The problem has set none; or some of its policies never come to an end. With uncertainty the
// mixture of memoryless policies need not be the best there is, and the bound, for which one nature
// faces reward and constraints together, need not be reached: both hold. Where a checkpoint is at
// hand, columns are kept in it.
NominalOptimum generate_columns(const Problem& problem, const ColumnGenerationOptions& options,
                                Workers& workers, Stopwatch& watch,
                                SolverCheckpoint* checkpoint = nullptr);

}  // namespace redoubt::internal
