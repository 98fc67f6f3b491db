#pragma once

#include <vector>

#include "evaluation/chain.h"
#include "evaluation/nature_iteration.h"
#include "evaluation/small_chain.h"

namespace redoubt::internal {

// An Error that names a state in which a policy may stay for ever.
void require_ends(const Problem& problem, const TakenRows& taken);

// Of a total that nothing is ever taken from, in a problem that traps(): the states in which nature
// can keep a policy for ever without paying it. They are worth nothing, as if it took no rows
// there; elsewhere it comes to an end, or to one of them.
std::vector<char> trapped_states(const Problem& problem, const Channel& channel,
                                 const TakenRows& taken);
TakenRows without_rows(const TakenRows& taken, const std::vector<char>& of_states);

// The values of a policy that takes the same rows for ever, in one channel, by nature's policy
// iteration. For problems with a discount; not for `tilt`.
class StationaryValues {
 public:
  explicit StationaryValues(TakenSweep& sweep)
      : sweep_(&sweep), small_(sweep.problem(), sweep.workers().ranks()) {}

  // About, for this many taken rows and with the values themselves.
  static double bytes(const Problem& problem, std::int64_t rows);

  // Brings the values closer to those of the policy, until the bracket of the last robust sweep is
  // no wider than `width` (of the largest size of a value), or than rounding allows. The values of
  // the policy lie within that bracket of the values.
  Bracket improve(const TakenRows& taken, const Channel& channel, std::vector<double>& values,
                  const Width& width);

 private:
  void make_room(const TakenRows& taken);
  void fix_distributions(const TakenRows& taken, const Channel& channel);

  TakenSweep* sweep_;
  Chain chain_;  // mass that lands outside leads to one more state: it has the least value of all
  std::vector<std::int64_t> begin_;  // of each taken row, in the chain
  std::vector<double> better_;
  SmallChain small_;
};

// How far values are shifted before they are reported as what a policy guarantees: to the middle of
// the bracket, or to its lower end where no discount says how wide it is at most.
inline double reported(const Problem& problem, const Bracket& bracket) {
  return problem.undiscounted() ? bracket.low : bracket.middle();
}
// In states that are not terminal.
void shift_states(const Model& model, Exchange& exchange, double by, std::vector<double>& values);

}  // namespace redoubt::internal
