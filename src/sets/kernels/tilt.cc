#include "numerics/vector_math.h"
#include "sets/kernels/block.h"

// P proportional to p exp(-v / temperature).
namespace redoubt::REDOUBT_TARGET {
namespace {

Lanes solve(const NominalRow& row, const Block& v, const Minimiser* minimiser) {
  Lanes low = v[0];
  for (int i = 1; i < v.outcomes; ++i) low = min(v[i], low);
  // Exponents relative to the lowest value cannot overflow.
  const Lanes scale = -1 / row.radius;
  Lanes mass = 0.0, excess = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes above = v[i] - low;
    const Lanes weight = row.probability[i] * exp(above * scale);
    mass += weight;
    excess += weight * above;
  }
  if (minimiser != nullptr)
    for (int i = 0; i < v.outcomes; ++i)
      minimiser->set(i, row.probability[i] * exp((v[i] - low) * scale) / mass);
  return low + excess / mass;
}

}  // namespace

void tilt(const NominalRow& row, const LaneValues& values, Scratch&, double* worst,
          double* minimiser) {
  for_each_block(row, values, worst, minimiser,
                 [&](const Block& v, const Minimiser* place) { return solve(row, v, place); });
}

}  // namespace redoubt::REDOUBT_TARGET
