#pragma once

#include <array>
#include <span>
#include <vector>

#include "parallel/exchange.h"
#include "solvers/frontier/search/root.h"
#include "solvers/frontier/search/stage.h"

namespace redoubt::internal {

// Where the gap at the start comes from: how much is lost between two neighbouring prices, and
// around which price. Found by following the answer forward from the start, by the actions and
// kernels that its bound comes from.
struct GapAttribution {
  // All numbers, so that ranks can send it as such.
  struct Near {
    double loss = 0;                                       // gap at the start
    double most = 0;                                       // of one direction that comes there
    std::array<double, Directions::kMostSignals> which{};  // that direction

    void add(const Near& other);
  };
  struct Interval {
    double loss = 0;            // gap at the start that a finer grid here would close
    double weighted_price = 0;  // loss times price
  };
  // With one constraint: [stage][between price n and the next, or beyond].
  std::vector<std::vector<Interval>> intervals;
  std::vector<std::vector<double>>
      state_loss;  // the same for each state, [stage][state * prices + n]
  // With several: what is lost near a direction, on the side of each signal,
  // [stage][(state * directions + direction) * signals + signal].
  std::vector<std::vector<Near>> near;
  std::vector<std::vector<double>>
      visits;  // [stage][state * directions + direction]: weight of what is followed there
  double between_prices = 0;  // sum of all losses
  double games = 0;           // gap at the start that longer games would close
};

// A pass and the answer that was read off it.
struct AnsweredPass {
  const Problem& problem;
  const Landings& landings;
  // Those that the answer passes through, one after the other, in so many steps; an infinite
  // horizon passes through the last one again and again.
  std::vector<const FrontierStage*> stages;
  int steps;
  const Root& root;
  std::span<const double> scales;  // the largest totals of the signals
};

// Where the present gap comes from and where the directions of a finer grid would lead: of both,
// whatever is more. What opens the gap at the start by less than `negligible`, in one direction of
// a state, is not followed on. Ranks call this together; sums are those of all of them, and what is
// of a state is with its owner. Throws Stopped.
GapAttribution attribute_gap(const AnsweredPass& pass, double negligible, StateBackup& backup,
                             Exchange& exchange, Workers& workers);

}  // namespace redoubt::internal
