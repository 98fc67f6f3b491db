#pragma once

#include <cstddef>
#include <vector>

#include "numerics/philox.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// Draws in proportion to weights that sum to one up to rounding: what is missing goes to the last
// entry that has any weight.
class Draw {
 public:
  explicit Draw(RandomStream& random) : left_(random.uniform()) {}

  // True when this entry may be the one that is drawn: the last to answer true is.
  bool takes(double weight) {
    if (left_ < 0 || weight <= 0) return false;
    left_ -= weight;
    return true;
  }

 private:
  double left_;
};

template <class Weight>
std::size_t draw(RandomStream& random, std::size_t count, Weight weight) {
  Draw draw(random);
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (draw.takes(weight(i))) drawn = i;
  }
  return drawn;
}

inline std::int32_t draw_memory(RandomStream& random, const std::vector<MemoryMove>& moves) {
  return moves[draw(random, moves.size(), [&](std::size_t i) { return moves[i].weight; })].memory;
}

// The position of the action that a node takes.
inline std::int32_t draw_action(RandomStream& random, const Policy::Stage& stage,
                                std::int64_t node) {
  Draw draw(random);
  std::int32_t drawn = 0;
  for_each_choice(stage, node, [&](std::int32_t action, double weight) {
    if (draw.takes(weight)) drawn = action;
  });
  return drawn;
}

}  // namespace redoubt::internal
