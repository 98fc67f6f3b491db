#include "sets/kernels/block.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

template <class Rows>
void solve(const Rows& rows, const LaneValues& values, double* worst, double* minimiser) {
  for_each_block(rows.outcomes, values, worst, minimiser,
                 [&](const Block& v, const Minimiser* place) {
                   if (place != nullptr)
                     for (int i = 0; i < v.outcomes; ++i) place->set(i, rows.probability(v, i));
                   return expectation(rows.probability, v);
                 });
}

}  // namespace

void nominal(const NominalRow& row, const LaneValues& values, Scratch&, double* worst,
             double* minimiser) {
  solve(SharedRow(row), values, worst, minimiser);
}

void nominal(const LaneRows& rows, const LaneValues& values, Scratch&, double* worst,
             double* minimiser) {
  solve(RowOfLane(rows, values.lanes), values, worst, minimiser);
}

// In the order in which a lane adds.
void expected_values(const SparseRows& matrix, const std::int64_t* rows, std::int64_t count,
                     const double* values, double* result) {
  for (std::int64_t n = 0; n < count; ++n) {
    const auto begin = matrix.row_outcomes[rows[n]], end = matrix.row_outcomes[rows[n] + 1];
    double sum = 0;
    for (auto i = begin; i < end; ++i) sum += matrix.probability[i] * values[matrix.next[i]];
    result[n] = sum;
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
