#include "sets/kernels/take_from_top.h"

// lower <= P <= upper. Nature starts from the lower bounds and gives the mass that is left to the
// lowest values first, each up to its upper bound. Seen upside down, it takes that mass from the
// top of what fits between the bounds.
namespace redoubt::REDOUBT_TARGET {
namespace {

[[gnu::always_inline]] inline Lanes negated_value(const Block& v, int outcome) {
  return -v[outcome];
}

}  // namespace

void interval(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
              double* minimiser) {
  double* room = scratch.doubles(row.outcomes);
  double free = 1, total = 0;
  for (int i = 0; i < row.outcomes; ++i) {
    room[i] = row.upper[i] - row.lower[i];
    free -= row.lower[i];
    total += room[i];
  }
  free = free < 0 ? 0 : free > total ? total : free;
  solve_together<Taking>(
      row, values, worst, minimiser,
      [&](Taking* blocks, int count) {
        take_from_top(blocks, count, room, total, free, negated_value);
      },
      [&](const Taking& t) { return max(expectation(row.lower, t.v) - t.taken(free), -t.high); },
      [&](const Taking& t, const Minimiser& place) {
        write_taken(t, room, free, negated_value, place);
        for (int i = 0; i < row.outcomes; ++i) place.set(i, row.lower[i] + place.get(i));
        place.set(row.outcomes, 0.0);
      });
}

}  // namespace redoubt::REDOUBT_TARGET
