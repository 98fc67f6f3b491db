#include "sets/kernels/descent.h"

// Total variation: nature takes mass `radius` from the highest outcomes and puts it on the lowest
// landing place.
namespace redoubt::REDOUBT_TARGET {
namespace {

// Mass went from above the threshold to the first outcome of the lowest value, or to the floor.
void write_minimiser(const NominalRow& row, const Block& v, const Descent& d, Lanes low,
                     const Minimiser& minimiser) {
  Lanes homeless = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes p = row.probability[i];
    const Lanes kept =
        select(v[i] > d.threshold, 0.0, select(v[i] == d.threshold, p * (1.0 - d.fraction), p));
    homeless += p - kept;
    minimiser.set(i, kept);
  }
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes landed = select(v[i] == low, homeless, 0.0);
    minimiser.set(i, minimiser.get(i) + landed);
    homeless -= landed;
  }
  minimiser.set(v.outcomes, homeless);
}

}  // namespace

void tv(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
        double* minimiser) {
  if (row.radius == 0) return nominal(row, values, scratch, worst, minimiser);
  for_each_block(row, values, worst, minimiser, [&](const Block& v, const Minimiser* place) {
    auto [low, high] = range_of(v);
    if (values.floor != nullptr) low = min(load(values.floor + v.lane), low);
    const Descent d = descend(
        v.outcomes, [&](int i) -> Lanes { return row.probability[i]; }, [&](int i) { return v[i]; },
        row.radius, high, low);
    if (place != nullptr) write_minimiser(row, v, d, low, *place);
    return max(expectation(row.probability, v) - d.saved, low);
  });
}

}  // namespace redoubt::REDOUBT_TARGET
