#pragma once

#include <vector>

#include "evaluation/chain.h"
#include "numerics/chain_elimination.h"

namespace redoubt::internal {

// What chains of a small model with a discount are worth, by elimination: for chains in which news
// travels slowly, where steps along them would have to go on for long. All ranks have the whole
// chain and do the same with it, so that answers keep their bits.
class SmallChain {
 public:
  SmallChain(const Problem& problem, Communicator& ranks);

  // Asked after every step along a chain: true when the values are now, to rounding, what it is
  // worth. That is tried when many steps have not been enough, with about as much work as they
  // were, and early once it has been of use. What has taken too much is not tried again. All ranks
  // ask together.
  bool solve_after(std::int64_t steps, const Chain& chain, std::vector<double>& values);

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

}  // namespace redoubt::internal
