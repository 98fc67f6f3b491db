#pragma once

#include <cstdint>
#include <vector>

#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// How the points of one state are achieved. Point k takes action[k], and goes on from its outcome i
// (the landing outside comes last, if the row has one) by the entry slot[k] + i. With one
// constraint that is a mix along the curve of the next place; otherwise the moves from begin[entry]
// up to the next one, to points of the next stage.
//
// Where the rows of a state share a radius a point takes a mixture of actions: the choices from
// choice_begin[slot[k]] up to the next. action[k] is one of those with the largest weight.
struct Recipes {
  struct Choice {
    std::int32_t action, slot;
    double weight;
  };

  std::vector<std::int32_t> action, slot;
  std::vector<std::int32_t> choice_begin;
  std::vector<Choice> choices;
  std::vector<CurveMix> mixes;
  std::vector<std::int32_t> begin;
  std::vector<MemoryMove> moves;
};

// Calls visit(choice) for every action that a point takes; none in a terminal state.
template <class Visit>
void for_each_choice(const Recipes& recipes, std::int32_t point, Visit visit) {
  if (recipes.action[point] < 0) return;
  const std::int32_t slot = recipes.slot[point];
  if (recipes.choices.empty()) return visit(Recipes::Choice{recipes.action[point], slot, 1.0});
  for (auto c = recipes.choice_begin[slot]; c < recipes.choice_begin[slot + 1]; ++c)
    visit(recipes.choices[c]);
}

// Calls visit(move) for every point of the next stage that an entry leads to, from an outcome which
// is a place of the next stage.
template <class Visit>
void for_each_move(const Recipes& recipes, const std::vector<Curve>& next_curves,
                   std::int64_t entry, std::int64_t place, Visit visit) {
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
