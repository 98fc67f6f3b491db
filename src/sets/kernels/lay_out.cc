#include "sets/kernels/block.h"

// Rows of compressed storage, side by side: eight of them at a time, so that whole blocks of lanes
// are written.
namespace redoubt::internal::REDOUBT_TARGET {

void lay_out(const RowsInStorage& rows, const double* numbers, double* to) {
  constexpr int kFour = 4;
  const auto step = static_cast<std::size_t>(rows.lanes);
  for (int lane = 0; lane < rows.lanes; lane += kLanes) {
    const double* first[kLanes];
    for (int n = 0; n < kLanes; ++n) first[n] = numbers + rows.begin[lane + n];
    double* block = to + lane;
    if (rows.outcomes < kFour) {
      for (int i = 0; i < rows.outcomes; ++i)
        for (int n = 0; n < kLanes; ++n) block[i * step + n] = first[n][i];
      continue;
    }
    for (int i = 0; i < rows.outcomes; i += kFour) {
      // The last four may be in part the four before them.
      const int from = i + kFour <= rows.outcomes ? i : rows.outcomes - kFour;
      const FourLanes four =
          four_from([&](int n) __attribute__((always_inline)) { return first[n] + from; });
      for (int k = 0; k < kFour; ++k) store(block + (from + k) * step, four.number[k]);
    }
  }
}

void lay_out_values(const RowsInStorage& rows, const std::int32_t* next, const double* values,
                    double* to) {
  const auto step = static_cast<std::size_t>(rows.lanes);
  for (int lane = 0; lane < rows.lanes; lane += kLanes) {
    const std::int32_t* first[kLanes];
    for (int n = 0; n < kLanes; ++n) first[n] = next + rows.begin[lane + n];
    double* block = to + lane;
    for (int i = 0; i < rows.outcomes; ++i) {
#pragma GCC unroll 8
      for (int n = 0; n < kLanes; ++n) block[i * step + n] = values[first[n][i]];
    }
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
