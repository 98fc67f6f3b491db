#pragma once

#include <span>
#include <vector>

#include "redoubt/uncertainty.h"

namespace redoubt {

// The worst case of one row on its own: nature picks P in the set around p to make the mean of v as
// low as it can.
//
//     auto r = worst_case(KL{0.05}, {.probability = p}, v);
//     r.value[0];            // min over P of sum_i P_i v_i
//
// One call takes many value vectors for the same row: the values are then one vector after the
// other.

struct SingleRow {
  std::span<const double> probability = {};        // sums to one; zeros are allowed
  std::span<const double> lower = {}, upper = {};  // interval sets only, which need no more
};

struct WorstCaseOf {
  std::vector<double> value;         // one for each value vector
  std::vector<double> distribution;  // if asked for: the minimising P of each, one after the other
};

// Outcomes of probability zero are out of nature's reach, except for tv with reach anywhere, which
// may move mass to any of the outcomes given here. Throws Error when the row, the values or the set
// break a rule.
WorstCaseOf worst_case(const Uncertainty& uncertainty, const SingleRow& row,
                       std::span<const double> values, bool with_distribution = false);

}  // namespace redoubt
