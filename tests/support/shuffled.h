#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "redoubt/model.h"

namespace redoubt::testing {

// States in any order, the same on every platform.
inline std::vector<State> shuffled(State states, std::uint64_t seed = 0) {
  std::vector<State> order(states);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  for (State left = states; left > 1; --left)
    std::swap(order[left - 1], order[random() % static_cast<std::uint64_t>(left)]);
  return order;
}

}  // namespace redoubt::testing
