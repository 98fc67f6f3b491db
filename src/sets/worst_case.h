#pragma once

#include "redoubt/uncertainty.h"

// The worst case of ONE row, for a block of lanes at once. A lane is one vector of outcome values:
// a budget, a signal, a direction, whatever the caller sweeps over. Sets know rows and lanes; they
// know no states and no stages.
namespace redoubt {

inline constexpr int kLaneBlock = 8;  // lanes are computed in groups of this many

constexpr int padded_lanes(int lanes) { return (lanes + kLaneBlock - 1) / kLaneBlock * kLaneBlock; }

// A row as nature sees it. Probabilities are positive and sum to one (interval sets may have
// zeros).
struct NominalRow {
  int outcomes = 0;
  const double* probability = nullptr;
  double radius = 0;              // tv, chi2, kl
  const double* lower = nullptr;  // interval only
  const double* upper = nullptr;
};

// values[i] points to the value of outcome i in every lane, contiguous. Reading up to
// padded_lanes(lanes) must be valid and find finite numbers; so must writing the results. `floor`
// is the value, per lane, of the worst landing place outside the row's outcomes (tv with reach
// anywhere), or null when there is none.
struct LaneValues {
  int lanes = 0;
  const double* const* values = nullptr;
  const double* floor = nullptr;
};

// Memory that a kernel may use, one per thread; grows on first use, then never allocates.
class Scratch;

// worst[lane] = min over P in the set of sum_i P_i values[i][lane].
// When `minimiser` is not null it receives a P that attains it: minimiser[i * padded_lanes + lane],
// with one more entry, i = outcomes, for the mass on the floor (zero when there is no floor). void
// worst_case(const Uncertainty&, const NominalRow&, const LaneValues&, Scratch&, double* worst,
// double* minimiser);

}  // namespace redoubt
