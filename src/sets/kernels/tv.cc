#include "sets/kernels/take_from_top.h"

// Total variation: nature takes mass `radius` from the highest outcomes and puts it on the lowest
// landing place.
namespace redoubt::REDOUBT_TARGET {
namespace {

[[gnu::always_inline]] inline Lanes value_of(const Block& v, int outcome) { return v[outcome]; }

// What is taken lands on the first outcome of the lowest value, or on the floor.
void write_minimiser(const NominalRow& row, const Taking& t, double amount, Lanes low,
                     const Minimiser& minimiser) {
  const Block& v = t.v;
  write_taken(t, row.probability, amount, value_of, minimiser);
  Lanes homeless = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    homeless += minimiser.get(i);
    minimiser.set(i, row.probability[i] - minimiser.get(i));
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
  double total = 0;
  for (int i = 0; i < row.outcomes; ++i) total += row.probability[i];
  const double radius = row.radius < total ? row.radius : total;
  const int stride = padded_lanes(values.lanes);
  Taking blocks[kTogether];
  for (int lane = 0; lane < values.lanes;) {
    int count = 0;
    for (; lane < values.lanes && count < kTogether; lane += kLanes)
      blocks[count++].v = {values.values, row.outcomes, lane};
    take_from_top(blocks, count, row.probability, total, radius, value_of);
    for (int i = 0; i < count; ++i) {
      const Taking& t = blocks[i];
      Lanes low = t.low;
      if (values.floor != nullptr) low = min(load(values.floor + t.v.lane), low);
      store(worst + t.v.lane, max(t.mean - (t.taken(radius) - radius * low), low));
      if (minimiser != nullptr)
        write_minimiser(row, t, radius, low, {minimiser + t.v.lane, stride});
    }
  }
}

}  // namespace redoubt::REDOUBT_TARGET
