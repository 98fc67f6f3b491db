#pragma once

#include <vector>

#include "redoubt/problem.h"
#include "sampling/confidence_sequence.h"
#include "sampling/row_counts.h"

namespace redoubt::internal {

// What is known of the rows of a simulator as two problems, of which one is no better and one no
// worse than the true one, as long as the true rows keep their intervals.
struct KnownRows {
  const RowCounts& counts;
  std::vector<std::vector<Range>> intervals;  // of each row, of each outcome
  std::vector<double> missing;  // of each row, the most mass that outcomes may have that it lacks

  KnownRows(const RowCounts& rows, double evidence, std::vector<double> mass_missing = {});
  // Looks again at rows that have more samples than when it last did.
  void update();

 private:
  double evidence_;
  std::vector<std::int64_t> samples_;
};

// The set of the terms around every row within the intervals, and the worse end of values that are
// known by their ranges only. Whatever a policy guarantees here it guarantees of the true model.
Problem pessimistic_problem(const KnownRows& known, Terms terms);

// Each corner of the intervals is an action of its own, with the set of the terms around it, and
// values have their better end. Whatever some policy guarantees of the true model some policy
// guarantees here: the worst case of a row is convex in its centre, so that a mixture of corners is
// no worse than the row that it makes.
struct OptimisticProblem {
  Problem problem;
  std::vector<Row> origin;  // of each row: the row of the simulator whose corner it is
};
OptimisticProblem optimistic_problem(const KnownRows& known, Terms terms);

// The terms of the pessimistic problem. Where every factor lists every state, all of them possible,
// mass that total variation may put anywhere is in the support.
Terms pessimistic_terms(const SimulatorShape& shape, Terms terms);

// Which states episodes can come to, by the outcomes that the rows can have.
std::vector<char> reachable_states(const RowCounts& counts, const Terms& terms);

}  // namespace redoubt::internal
