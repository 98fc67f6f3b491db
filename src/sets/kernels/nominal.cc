#include "sets/kernels/block.h"

namespace redoubt::REDOUBT_TARGET {

void nominal(const NominalRow& row, const LaneValues& values, Scratch&, double* worst,
             double* minimiser) {
  for_each_block(row, values, worst, minimiser, [&](const Block& v, const Minimiser* place) {
    if (place != nullptr)
      for (int i = 0; i < v.outcomes; ++i) place->set(i, row.probability[i]);
    return expectation(row.probability, v);
  });
}

}  // namespace redoubt::REDOUBT_TARGET
