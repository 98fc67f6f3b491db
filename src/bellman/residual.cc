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
  numbers &= other.numbers;
}

// Four at a time, which do not wait for each other.
void Residual::add(const double* before, const double* after, std::int64_t count) {
  constexpr std::int64_t kAbreast = 4;
  Residual found[kAbreast];
  std::int64_t i = 0;
  for (; i + kAbreast <= count; i += kAbreast) {
    for (std::int64_t n = 0; n < kAbreast; ++n) found[n].add(before[i + n], after[i + n]);
  }
  for (; i < count; ++i) found[0].add(before[i], after[i]);
  for (const Residual& each : found) add(each);
}

void add_over_ranks(Communicator& ranks, Residual& residual) {
  if (ranks.size() == 1) return;
  std::array<double, 5> all = {residual.low, -residual.high, residual.least, -residual.most,
                               residual.numbers ? 1.0 : 0.0};
  min_over_ranks(ranks, all);
  residual = {all[0], -all[1], all[2], -all[3], all[4] > 0};
}

double scale(const Residual& residual, const Bracket& bracket) {
  return std::max(std::abs(residual.least + bracket.middle()),
                  std::abs(residual.most + bracket.middle()));
}

}  // namespace redoubt::internal
