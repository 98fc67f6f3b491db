#pragma once

#include <cstdint>
#include <vector>

#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// How the points of one state are achieved. Point k takes action[k], and goes on from its outcome i
// (the landing outside comes last, if the row has one) by the entry slot[k] + i. With one
// constraint that is a mix along the curve of the next place; otherwise the moves from begin[entry]
// up to the next one, to points of the next stage.
struct Recipes {
  std::vector<std::int32_t> action, slot;
  std::vector<CurveMix> mixes;
  std::vector<std::int32_t> begin;
  std::vector<MemoryMove> moves;
};

// Calls visit(move) for every point of the next stage that a point may lead to from its outcome i,
// which is a place of the next stage.
template <class Visit>
void for_each_move(const Recipes& recipes, const std::vector<Curve>& next_curves,
                   std::int32_t point, std::int64_t i, std::int64_t place, Visit visit) {
  const auto entry = recipes.slot[point] + i;
  if (recipes.begin.empty()) {
    const Curve& curve = next_curves[place];
    for_each_corner(recipes.mixes[entry], [&](const MemoryMove& corner) {
      visit(MemoryMove{curve.point[corner.memory], corner.weight});
    });
  } else {
    for (auto m = recipes.begin[entry]; m < recipes.begin[entry + 1]; ++m) visit(recipes.moves[m]);
  }
}

}  // namespace redoubt::internal
