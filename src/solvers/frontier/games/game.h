#pragma once

#include <limits>
#include <span>
#include <vector>

#include "redoubt/problem.h"
#include "solvers/frontier/sets/next_stage_layout.h"
#include "solvers/frontier/sets/supports.h"

namespace redoubt::internal {

// One row, many directions: the largest weighted sum of worst cases that can be guaranteed by
// choosing a point of the trade-off set of every place the row leads to, against one nature for
// each signal. A saddle point,
//     max over points z of sum_j d_j worst_j(z_j)  =  min over kernels P of sum_i support_i(d_0
//     P_0i, d_1 P_1i, ...).
// Any points are achievable and any kernels are a bound, so a game can end at any time.
// Lanes are the directions.
struct RowGame {
  Row row = 0;
  std::span<const std::int64_t>
      places;  // of each outcome and, last, of the landing outside if nature has one
  bool landing = false;
  const TradeOffs* next = nullptr;
  const std::vector<Curve>* curves = nullptr;  // of the next places, with one constraint
  const Supports* supports = nullptr;          // of the next places, with several
  const NextStageLayout* ahead = nullptr;
  std::span<const double> weights;    // [signal][lane] of the direction of each lane
  std::span<const double> tolerance;  // of each lane: a gap of the game that is small enough
  std::span<const double> beat;  // of each lane: a value that this row must exceed to matter at all
  int rounds = 10;

  int lanes(int signals) const { return static_cast<int>(weights.size()) / signals; }
};

// What the utility at a place shall be, and a corner of its curve close to where it is.
struct Promise {
  double utility = 0;
  std::int32_t near = -1;  // not known
};

// How a game ended in one direction.
struct GameEnd {
  double bound = 0, value = 0, gap = 0;
  std::vector<Promise> promises;  // of each place, with one constraint
  std::vector<double> kernel;     // that they answer: [place][signal]

  void lose(double by) {  // the row does not matter: only its bound is known
    kernel.clear();
    bound = by;
    value = -std::numeric_limits<double>::infinity();
    gap = -value;
  }
};

}  // namespace redoubt::internal
