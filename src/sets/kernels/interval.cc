#include "sets/kernels/descent.h"

// lower <= P <= upper. Nature starts from the lower bounds and gives the mass that is left to the
// lowest values first, each up to its upper bound. Seen upside down this is a descent: the mass
// starts on the highest value, and descending through the negated values moves it to where it is
// worth less.
namespace redoubt::REDOUBT_TARGET {

void interval(const NominalRow& row, const LaneValues& values, Scratch&, double* worst,
              double* minimiser) {
  double free = 1;
  for (int i = 0; i < row.outcomes; ++i) free -= row.lower[i];
  free = free > 0 ? free : 0;

  for_each_block(row, values, worst, minimiser, [&](const Block& v, const Minimiser* place) {
    const auto [low, high] = range_of(v);
    const Descent d = descend(
        v.outcomes, [&](int i) -> Lanes { return row.upper[i] - row.lower[i]; },
        [&](int i) { return -v[i]; }, free, -low, -high);
    if (place != nullptr) {
      Lanes left = free;
      for (int i = 0; i < v.outcomes; ++i) {
        const Lanes room = row.upper[i] - row.lower[i];
        const Lanes given =
            select(-v[i] > d.threshold, room, select(-v[i] == d.threshold, room * d.fraction, 0.0));
        place->set(i, row.lower[i] + given);
        left -= given;
      }
      for (int i = 0; i < v.outcomes; ++i) {  // what no lower value could hold stays on the highest
        const Lanes room = row.upper[i] - place->get(i);
        const Lanes given = select(v[i] == high, max(min(left, room), 0.0), 0.0);
        place->set(i, place->get(i) + given);
        left -= given;
      }
    }
    return max(expectation(row.lower, v) + free * high - d.saved, low);
  });
}

}  // namespace redoubt::REDOUBT_TARGET
