#include "sets/kernels/block.h"

// Rows of compressed storage, side by side: eight of them at a time, and two outcomes of each, so
// that what is loaded and stored is no single number.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

typedef double Two __attribute__((vector_size(16)));
typedef double UnalignedTwo __attribute__((vector_size(16), aligned(8), may_alias));

// Two neighbouring numbers of every other row: as many rows as half a vector has numbers.
template <class Row>
[[gnu::always_inline]] inline DoubleVector every_other(Row row) {
#if defined(__AVX512F__)
  const auto four = [&](int n) __attribute__((always_inline)) {
    return __builtin_shufflevector(row(n), row(n + 2), 0, 1, 2, 3);
  };
  return __builtin_shufflevector(four(0), four(4), 0, 1, 2, 3, 4, 5, 6, 7);
#elif defined(__AVX__)
  return __builtin_shufflevector(row(0), row(2), 0, 1, 2, 3);
#else
  return row(0);
#endif
}

// The first and the second numbers of rows, given those of every other one.
struct TwoVectors {
  DoubleVector first, second;
};
[[gnu::always_inline]] inline TwoVectors one_by_one(DoubleVector even, DoubleVector odd) {
#if defined(__AVX512F__)
  return {__builtin_shufflevector(even, odd, 0, 8, 2, 10, 4, 12, 6, 14),
          __builtin_shufflevector(even, odd, 1, 9, 3, 11, 5, 13, 7, 15)};
#elif defined(__AVX__)
  return {__builtin_shufflevector(even, odd, 0, 4, 2, 6),
          __builtin_shufflevector(even, odd, 1, 5, 3, 7)};
#else
  return {__builtin_shufflevector(even, odd, 0, 2), __builtin_shufflevector(even, odd, 1, 3)};
#endif
}

// Two neighbouring states, by one load.
struct TwoStates {
  static constexpr int kFirst = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 32;  // its bits
  std::uint64_t both;

  [[gnu::always_inline]] explicit TwoStates(const std::int32_t* states) {
    __builtin_memcpy(&both, states, sizeof both);
  }
  [[gnu::always_inline]] std::uint64_t first() const { return (both >> kFirst) & 0xffffffff; }
  [[gnu::always_inline]] std::uint64_t second() const {
    return (both >> (32 - kFirst)) & 0xffffffff;
  }
};

}  // namespace

void lay_out(const RowsInStorage& rows, const double* numbers, double* to) {
  constexpr int kEach = kLanes / kParts;
  const auto step = static_cast<std::size_t>(rows.lanes);
  for (int lane = 0; lane < rows.lanes; lane += kLanes) {
    const double* first[kLanes];
    for (int n = 0; n < kLanes; ++n) first[n] = numbers + rows.begin[lane + n];
    double* block = to + lane;
    int i = 0;
    for (; i + 1 < rows.outcomes; i += 2) {
      Lanes one, other;
      for (int part = 0; part < kParts; ++part) {
        const auto row = [&](int n) __attribute__((always_inline)) {
          return *reinterpret_cast<const UnalignedTwo*>(first[part * kEach + n] + i);
        };
        const auto next_row = [&](int n) __attribute__((always_inline)) { return row(n + 1); };
        const TwoVectors two = one_by_one(every_other(row), every_other(next_row));
        one.part[part] = two.first;
        other.part[part] = two.second;
      }
      store(block + i * step, one);
      store(block + (i + 1) * step, other);
    }
    if (i == rows.outcomes) continue;
#pragma GCC unroll 8
    for (int n = 0; n < kLanes; ++n) block[i * step + n] = first[n][i];
  }
}

void lay_out_values(const RowsInStorage& rows, const std::int32_t* next, const double* values,
                    double* to) {
  const auto step = static_cast<std::size_t>(rows.lanes);
  for (int lane = 0; lane < rows.lanes; lane += kLanes) {
    const std::int32_t* first[kLanes];
    for (int n = 0; n < kLanes; ++n) first[n] = next + rows.begin[lane + n];
    double* block = to + lane;
    int i = 0;
    for (; i + 1 < rows.outcomes; i += 2) {
      double *one = block + i * step, *other = one + step;
#pragma GCC unroll 4
      for (int n = 0; n < kLanes; n += 2) {
        const TwoStates a(first[n] + i), b(first[n + 1] + i);
        *reinterpret_cast<UnalignedTwo*>(one + n) = Two{values[a.first()], values[b.first()]};
        *reinterpret_cast<UnalignedTwo*>(other + n) = Two{values[a.second()], values[b.second()]};
      }
    }
    if (i == rows.outcomes) continue;
#pragma GCC unroll 8
    for (int n = 0; n < kLanes; ++n) block[i * step + n] = values[first[n][i]];
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
