#include <algorithm>
#include <array>

#include "environments/environment.h"
#include "numerics/philox.h"

namespace redoubt::internal::builtin {
namespace {

struct Move {
  int down, right;
};
constexpr std::array<Move, 4> kMoves = {{{-1, 0}, {0, 1}, {1, 0}, {0, -1}}};  // clockwise

// Cells in reading order; a move off the board stays.
State neighbour(State cell, const Move& move, State size) {
  const State row = std::clamp(cell / size + move.down, 0, size - 1);
  const State column = std::clamp(cell % size + move.right, 0, size - 1);
  return row * size + column;
}

// Each cell by a stream of its own; the corners where episodes begin and end are safe.
std::vector<bool> place_hazards(State cells, double density, std::uint64_t seed) {
  std::vector<bool> hazard(cells);
  for (State cell = 1; cell < cells - 1; ++cell)
    hazard[cell] = RandomStream(seed, cell).uniform() < density;
  return hazard;
}

Model board(const Parameters& parameters) {
  const auto size = static_cast<State>(parameters.integer("size", 2, 500));
  const double slip = parameters.number("slip", 0, 1);
  const State goal = size * size - 1;
  const std::vector<bool> hazard =
      place_hazards(size * size, parameters.number("hazards", 0, 1), parameters.seed("seed"));
  ModelBuilder builder(size * size, {"hazard"});
  for (State cell = 0; cell < goal; ++cell) {
    for (int direction = 0; direction < 4; ++direction) {
      ModelBuilder::RowData row{0, {hazard[cell] ? 1.0 : 0.0}, {}};
      const auto lead = [&](int turn, double probability) {
        const State next = neighbour(cell, kMoves[(direction + turn) % 4], size);
        row.outcomes.push_back({next, probability, next == goal ? 1.0 : 0.0});
      };
      lead(0, 1 - slip);
      lead(1, slip / 2);
      lead(3, slip / 2);
      builder.add(0, cell, direction, std::move(row));
    }
  }
  builder.name_actions({"up", "right", "down", "left"});
  builder.label("goal", {goal});
  std::vector<State> hazards;
  for (State cell = 0; cell < goal; ++cell)
    if (hazard[cell]) hazards.push_back(cell);
  builder.label("hazard", std::move(hazards));
  return builder.build();
}

}  // namespace

Environment grid() {
  return {.name = "grid",
          .description = "Cross a slippery board to its far corner; hazards on the way cost",
          .parameters = {{"size", "8", "cells on a side; size * size states"},
                         {"slip", "0.2", "probability of a move to either side instead"},
                         {"hazards", "0.2", "probability that a cell is a hazard"},
                         {"seed", "0", "of the hazards"}},
          .defaults = {.discount = "0.99", .start = "0", .bound = "2"},
          .sense = Sense::at_most,
          .model = board};
}

}  // namespace redoubt::internal::builtin
