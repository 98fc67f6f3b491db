#pragma once

#include <span>
#include <vector>

#include "solvers/frontier/root.h"
#include "solvers/frontier/stage.h"
#include "sweep/exchange.h"

namespace redoubt {

// Where the gap at the start comes from: for each stage and constraint, how much is lost between
// two neighbouring prices, and around which price. Found by following the answer forward from the
// start, by the actions and kernels that its bound comes from.
struct Demand {
  struct Interval {
    double loss = 0;            // gap at the start that a finer grid here would close
    double weighted_price = 0;  // loss times price
  };
  std::vector<std::vector<std::vector<Interval>>>
      intervals;  // [stage][constraint][between price n and the next, or the ray]
  std::vector<std::vector<double>>
      state_loss;  // [stage][state * intervals + interval], with one constraint
  std::vector<std::vector<double>>
      left_out_loss;  // [stage][state * directions + direction], where a direction is left out
  std::vector<double> mass;   // of each stage: weight of all directions followed
  double between_prices = 0;  // sum of all losses
  double games = 0;           // gap at the start that longer games would close
};

// The stages are those that the answer passes through, one after the other; an infinite horizon
// passes through the same one many times. `scales` are the largest totals of the signals. Ranks
// call this together; sums are those of all of them, and what is of a state is with its owner.
Demand find_demand(const Problem& problem, const Landings& landings,
                   const std::vector<const FrontierStage*>& stages, const Root& root,
                   std::span<const double> scales, StateBackup& backup, Exchange& exchange);

// Adds prices where the losses are, for all stages: [stage][constraint]. `target` is the sum of
// losses to aim at; a constraint of a stage that has `most` prices gets no more.
void add_prices(const Demand& demand, double target, int most,
                std::vector<std::vector<std::vector<double>>>& prices);

// The largest loss of a state between two prices, or where a direction is left out, that can be
// left alone everywhere without losing more than `budget` in all.
double negligible_loss(const Demand& demand, double budget, Communicator& ranks);

// Which directions of a stage's new list are worth the work in which state: [state * directions +
// direction], of the states from `first` on that were. Directions that were, and others where
// leaving them out would lose more than `negligible` of the gap at the start.
std::vector<char> choose_active(const Demand& demand, int stage, double negligible,
                                const Directions& before, const std::vector<char>& active_before,
                                const Directions& after, State first);

}  // namespace redoubt
