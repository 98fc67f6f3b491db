#pragma once

#include <span>
#include <vector>

#include "redoubt/uncertainty.h"

namespace redoubt {

// The worst case of one row on its own: nature picks P in the set around p to make the mean of v as
// low as it can.
//
//     double worst = worst_case(KL{0.05}, p, v);  // min over P of sum_i P_i v_i
//
// Outcomes of probability zero are out of nature's reach, except for tv with reach anywhere, which
// may move mass to any of the outcomes given here. Throws Error when the row, the values or the set
// break a rule.
double worst_case(const Uncertainty& uncertainty, std::span<const double> probability,
                  std::span<const double> values);

// Also for intervals, for many value vectors, which are then one vector after the other, and with
// the kernel that nature chooses:
//
//     auto r = worst_case(Interval{}, {.lower = low, .upper = high}, v, true);
//     r.value[0], r.distribution;

struct SingleRow {
  std::span<const double> probability = {};        // sums to one; zeros are allowed
  std::span<const double> lower = {}, upper = {};  // interval sets only, which need no more
};

struct WorstCaseOf {
  std::vector<double> value;         // one for each value vector
  std::vector<double> distribution;  // if asked for: the minimising P of each, one after the other
};

WorstCaseOf worst_case(const Uncertainty& uncertainty, const SingleRow& row,
                       std::span<const double> values, bool with_distribution = false);

// Many rows at once, each with one value for an outcome: rows of a sparse matrix, in compressed
// storage. Much faster than one row after the other, and the same up to the last bits.
struct ManyRows {
  std::span<const std::int64_t> begin = {};   // entries of row i: begin[i] up to the next one
  std::span<const std::int32_t> column = {};  // of each entry: which of the values it has
  std::span<const double> probability = {};   // of each entry
  std::span<const double> lower = {}, upper = {};
  // What mass earns that tv with reach anywhere puts outside of a row, for all rows or for each;
  // empty: the lowest of all values.
  std::span<const double> floor = {};
};

struct WorstCasesOf {
  std::vector<double> value;         // of each row
  std::vector<double> distribution;  // if asked for: the minimising P, entry by entry
  std::vector<double> outside;       // and of each row, for tv with reach anywhere, the rest of it
};

// A set with radii has one for all rows, or one for each. Throws Error, which names the row.
WorstCasesOf worst_cases(const Uncertainty& uncertainty, const ManyRows& given,
                         std::span<const double> values, bool with_distribution = false);

}  // namespace redoubt
