#pragma once

#include <vector>

#include "evaluation/chain.h"
#include "numerics/chain_elimination.h"

namespace redoubt::internal {

// What small chains are worth in a problem with a discount, by elimination: for chains in which
// news travels slowly, where steps along them would have to go on for long. All ranks have the
// whole chain and do the same with it, so that answers keep their bits.
class SmallChain {
 public:
  // Of the states of the model, or of so many nodes of a policy, on all ranks together.
  SmallChain(const Problem& problem, Communicator& ranks);
  SmallChain(const Problem& problem, Communicator& ranks, std::int64_t nodes);

  // Asked after every step along a chain of states: true when the values are now, to rounding, what
  // it is worth. All ranks ask together.
  bool solve_after(std::int64_t steps, const Chain& chain, std::vector<double>& values);

  // Whether to solve after so many steps. That is tried when many steps have not been enough, with
  // about as much work as they were, and early once it has been of use. What has taken too much is
  // not tried again.
  bool wants(std::int64_t steps) const;
  // The whole chain: true when it is solved, and what its nodes are worth is known.
  bool solve(const Chain& whole);
  double operator[](State node) const { return elimination_[node]; }

  static constexpr State kMostStates = 20'000;

 private:
  bool eliminate(const Chain& chain, double additions);
  Chain whole_chain(const Chain& chain) const;

  const Problem* problem_;
  Communicator* ranks_;
  int tries_left_;
  bool helped_ = false;  // for the last chain that took many steps
  ChainElimination elimination_;
};

// The chains of all ranks as one. `number`: which of its nodes each of our own is; our chain leads
// to such numbers, too.
Chain gather_chain(Communicator& ranks, std::vector<State> number, Chain own);

}  // namespace redoubt::internal
