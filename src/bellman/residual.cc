#include "bellman/residual.h"

#include <array>
#include <cmath>

#include "parallel/collectives.h"

namespace redoubt::internal {

void Residual::add(const Residual& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

void agree(Communicator& ranks, Residual& residual) {
  if (ranks.size() == 1) return;
  std::array<double, 4> all = {residual.low, -residual.high, residual.least, -residual.most};
  min_over_ranks(ranks, all);
  residual = {all[0], -all[1], all[2], -all[3]};
}

double scale(const Residual& residual, const Bracket& bracket) {
  return std::max(std::abs(residual.least + bracket.middle()),
                  std::abs(residual.most + bracket.middle()));
}

}  // namespace redoubt::internal
