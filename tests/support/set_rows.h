#pragma once

#include <random>
#include <vector>

#include "redoubt/uncertainty.h"
#include "sets/row.h"

namespace redoubt::testing {
using namespace internal;

// A row with its lanes, as a value that owns its memory.
struct SetRow {
  std::vector<double> probability, lower, upper;
  double radius = 0;
  int lanes = 0;
  std::vector<std::vector<double>> values;  // [outcome][padded lane]
  std::vector<double> floor;  // [padded lane], or empty: no landing place outside the row

  int outcomes() const { return static_cast<int>(probability.size()); }
  std::vector<double> lane(int index) const;  // the values of one lane
};

struct SetResult {
  std::vector<double> worst;                   // [lane]
  std::vector<std::vector<double>> minimiser;  // [outcome, then the floor][lane]
};

// Runs a kernel on the row.
SetResult solve(WorstCase kernel, const SetRow& row, Scratch& scratch);

// For composed sets: bounds whose sums are exact, and no enormous radius. A ball around the row
// that fills up the lowest values makes a root of what is left of the mass, and so of its rounding:
// that is a matter of the bounds, not of a kernel.
void make_benign(SetRow& row);

// Rows of every kind that has broken a kernel: probabilities down to 1e-300, values in clusters 1e6
// apart, ties, constants, radii from 1e-12 to 1e6 and within 1e-9 of the point where all mass fits
// on the lowest value.
SetRow nasty_row(std::mt19937_64& random, const Uncertainty& set);

// A row as models have them: flat Dirichlet probabilities, values uniform in [0, 1], eight lanes.
SetRow plain_row(std::mt19937_64& random, int outcomes, double radius, int lanes = kLaneBlock);

double uniform(std::mt19937_64& random, double low = 0, double high = 1);
int pick(std::mt19937_64& random, int count);  // 0 .. count - 1

}  // namespace redoubt::testing
