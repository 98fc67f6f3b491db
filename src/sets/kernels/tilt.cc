#include "numerics/vector_math.h"
#include "sets/kernels/block.h"

// P proportional to p exp(-v / temperature).
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

template <class Rows>
Lanes solve(const Rows& rows, const Block& v, const Minimiser* minimiser) {
  Lanes low = v[0];
  for (int i = 1; i < v.outcomes; ++i) low = min(v[i], low);
  // Exponents relative to the lowest value cannot overflow.
  const Lanes scale = -1.0 / rows.radius(v);
  Lanes mass = 0.0, excess = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes above = v[i] - low;
    const Lanes weight = rows.probability(v, i) * exp(above * scale);
    mass += weight;
    excess += weight * above;
  }
  if (minimiser != nullptr)
    for (int i = 0; i < v.outcomes; ++i)
      minimiser->set(i, rows.probability(v, i) * exp((v[i] - low) * scale) / mass);
  return low + excess / mass;
}

}  // namespace

void tilt(const NominalRow& given, const LaneValues& values, Scratch&, double* worst,
          double* minimiser) {
  const SharedRow row(given);
  for_each_block(row.outcomes, values, worst, minimiser,
                 [&](const Block& v, const Minimiser* place) { return solve(row, v, place); });
}

void tilt(const LaneRows& given, const LaneValues& values, Scratch&, double* worst,
          double* minimiser) {
  const RowOfLane rows(given, values.lanes);
  for_each_block(rows.outcomes, values, worst, minimiser,
                 [&](const Block& v, const Minimiser* place) { return solve(rows, v, place); });
}

}  // namespace redoubt::internal::REDOUBT_TARGET
