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
  const auto landing = [&](const Taking& t) {
    return values.floor != nullptr ? min(load(values.floor + t.v.lane), t.low) : t.low;
  };
  solve_together<Taking>(
      row, values, worst, minimiser,
      [&](Taking* blocks, int count) {
        take_from_top(blocks, count, row.probability, total, radius, value_of);
      },
      [&](const Taking& t) {
        const Lanes low = landing(t);
        return max(t.mean - (t.taken(radius) - radius * low), low);
      },
      [&](const Taking& t, const Minimiser& place) {
        write_minimiser(row, t, radius, landing(t), place);
      });
}

}  // namespace redoubt::REDOUBT_TARGET
