#pragma once

// Eight lanes of doubles, on whatever vector registers the compiler may use here. Every operation
// acts on each lane alone and in the same way, so a lane's bits never depend on its neighbours.
//
// Files that include this header are compiled once for each instruction set, each time into a
// namespace of its own (REDOUBT_TARGET, set by CMake). They must not use inline functions or
// templates of the standard library: the linker keeps one copy of those, and it could be the copy
// that needs instructions which this machine lacks.
#ifndef REDOUBT_TARGET
#error "numerics/lanes.h is for files compiled once per instruction set; see src/CMakeLists.txt"
#endif

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace redoubt::internal::REDOUBT_TARGET {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

inline constexpr int kLanes = 8;
inline constexpr int kParts = kLanes * sizeof(double) / kVectorBytes;  // registers for eight lanes

typedef double DoubleVector __attribute__((vector_size(kVectorBytes)));
typedef std::int64_t IntegerVector __attribute__((vector_size(kVectorBytes)));
typedef std::uint64_t UnsignedVector __attribute__((vector_size(kVectorBytes)));
typedef double UnalignedDoubleVector
    __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
typedef std::uint64_t UnalignedUnsignedVector
    __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));

struct Lanes {
  DoubleVector part[kParts];

  Lanes() = default;
  [[gnu::always_inline]] Lanes(double x) {  // NOLINT: a number is the same in every lane
    for (auto& v : part) v = x - DoubleVector{};
  }
};

struct Mask {  // all bits of a lane set: yes
  IntegerVector part[kParts];
};

struct Integers {  // unsigned: bits of doubles are added and subtracted modulo 2^64
  UnsignedVector part[kParts];
};

[[gnu::always_inline]] inline Lanes load(const double* from) {
  Lanes r;
  for (int i = 0; i < kParts; ++i)
    r.part[i] = reinterpret_cast<const UnalignedDoubleVector*>(from)[i];
  return r;
}
[[gnu::always_inline]] inline void store(double* to, Lanes a) {
  for (int i = 0; i < kParts; ++i) reinterpret_cast<UnalignedDoubleVector*>(to)[i] = a.part[i];
}

[[gnu::always_inline]] inline Lanes operator+(Lanes a, Lanes b) {
  for (int i = 0; i < kParts; ++i) a.part[i] += b.part[i];
  return a;
}
[[gnu::always_inline]] inline Lanes operator-(Lanes a, Lanes b) {
  for (int i = 0; i < kParts; ++i) a.part[i] -= b.part[i];
  return a;
}
[[gnu::always_inline]] inline Lanes operator*(Lanes a, Lanes b) {
  for (int i = 0; i < kParts; ++i) a.part[i] *= b.part[i];
  return a;
}
[[gnu::always_inline]] inline Lanes operator/(Lanes a, Lanes b) {
  for (int i = 0; i < kParts; ++i) a.part[i] /= b.part[i];
  return a;
}
[[gnu::always_inline]] inline Lanes operator-(Lanes a) {
  for (auto& v : a.part) v = -v;
  return a;
}
[[gnu::always_inline]] inline Lanes& operator+=(Lanes& a, Lanes b) { return a = a + b; }
[[gnu::always_inline]] inline Lanes& operator-=(Lanes& a, Lanes b) { return a = a - b; }
[[gnu::always_inline]] inline Lanes& operator*=(Lanes& a, Lanes b) { return a = a * b; }

[[gnu::always_inline]] inline Mask operator<(Lanes a, Lanes b) {
  Mask r;
  for (int i = 0; i < kParts; ++i) r.part[i] = a.part[i] < b.part[i];
  return r;
}
[[gnu::always_inline]] inline Mask operator<=(Lanes a, Lanes b) {
  Mask r;
  for (int i = 0; i < kParts; ++i) r.part[i] = a.part[i] <= b.part[i];
  return r;
}
[[gnu::always_inline]] inline Mask operator==(Lanes a, Lanes b) {
  Mask r;
  for (int i = 0; i < kParts; ++i) r.part[i] = a.part[i] == b.part[i];
  return r;
}
[[gnu::always_inline]] inline Mask operator>(Lanes a, Lanes b) { return b < a; }
[[gnu::always_inline]] inline Mask operator>=(Lanes a, Lanes b) { return b <= a; }

[[gnu::always_inline]] inline Mask operator&(Mask a, Mask b) {
  for (int i = 0; i < kParts; ++i) a.part[i] &= b.part[i];
  return a;
}
[[gnu::always_inline]] inline Mask operator|(Mask a, Mask b) {
  for (int i = 0; i < kParts; ++i) a.part[i] |= b.part[i];
  return a;
}
[[gnu::always_inline]] inline Mask operator!(Mask a) {
  for (auto& v : a.part) v = ~v;
  return a;
}

[[gnu::always_inline]] inline Lanes select(Mask yes, Lanes a, Lanes b) {
  for (int i = 0; i < kParts; ++i) a.part[i] = yes.part[i] ? a.part[i] : b.part[i];
  return a;
}
[[gnu::always_inline]] inline Lanes min(Lanes a, Lanes b) { return select(a < b, a, b); }
[[gnu::always_inline]] inline Lanes max(Lanes a, Lanes b) { return select(a > b, a, b); }
[[gnu::always_inline]] inline Lanes abs(Lanes a) { return max(a, -a); }

// sum + x where yes, sum elsewhere; and a where no, the greater of x and a elsewhere. In loops the
// chain of dependent instructions through sum and a is what counts: it is one instruction here.
[[gnu::always_inline]] inline Lanes add_where(Mask yes, Lanes sum, Lanes x) {
#if defined(__AVX512F__)
  return select(yes, sum + x, sum);
#else
  return sum + select(yes, x, 0.0);
#endif
}
[[gnu::always_inline]] inline Lanes max_unless(Mask no, Lanes a, Lanes x) {
#if defined(__AVX512F__)
  return max(select(no, -__builtin_inf(), x), a);
#else
  for (int i = 0; i < kParts; ++i) {
    IntegerVector bits = no.part[i];
#if defined(__SSE2__)
    // A compiler that knows a comparison behind these bits makes a blend of the next line, which
    // waits for the same two ports as the comparison and the maximum; any port can do an `or`.
    asm("" : "+x"(bits));
#endif
    x.part[i] = (DoubleVector)((IntegerVector)x.part[i] | bits);
  }
  return max(x, a);  // a where x is not a number
#endif
}

[[gnu::always_inline]] inline bool any(Mask a) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)a.part[0], (__m512i)a.part[0]) != 0;
#else
  IntegerVector some = a.part[0];
  for (int i = 1; i < kParts; ++i) some |= a.part[i];
#if defined(__AVX__)
  return _mm256_movemask_pd((__m256d)some) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_pd((__m128d)some) != 0;
#else
  return (some[0] | some[1]) != 0;
#endif
#endif
}
[[gnu::always_inline]] inline bool all(Mask a) { return !any(!a); }

[[gnu::always_inline]] inline Lanes sqrt(Lanes a) {
  for (auto& v : a.part)  // compilers make one instruction of the inner loop
    for (unsigned i = 0; i < kVectorBytes / sizeof(double); ++i) v[i] = __builtin_sqrt(v[i]);
  return a;
}

// The bits of a double as an integer, and back.
[[gnu::always_inline]] inline Integers bits(Lanes a) {
  Integers r;
  for (int i = 0; i < kParts; ++i) r.part[i] = (UnsignedVector)a.part[i];
  return r;
}
[[gnu::always_inline]] inline Lanes from_bits(Integers a) {
  Lanes r;
  for (int i = 0; i < kParts; ++i) r.part[i] = (DoubleVector)a.part[i];
  return r;
}
[[gnu::always_inline]] inline Integers operator+(Integers a, std::uint64_t b) {
  for (auto& v : a.part) v += b;
  return a;
}
[[gnu::always_inline]] inline Integers operator-(Integers a, std::uint64_t b) {
  for (auto& v : a.part) v -= b;
  return a;
}
[[gnu::always_inline]] inline Integers operator-(Integers a, Integers b) {
  for (int i = 0; i < kParts; ++i) a.part[i] -= b.part[i];
  return a;
}
[[gnu::always_inline]] inline Integers operator&(Integers a, std::uint64_t b) {
  for (auto& v : a.part) v &= b;
  return a;
}
[[gnu::always_inline]] inline Integers shift_left(Integers a, int count) {
  for (auto& v : a.part) v <<= count;
  return a;
}
[[gnu::always_inline]] inline Integers arithmetic_shift_right(Integers a, int count) {
  for (auto& v : a.part) v = (UnsignedVector)((IntegerVector)v >> count);
  return a;
}

// Whole numbers, kept and compared as 64-bit integers.
[[gnu::always_inline]] inline Integers load(const std::int64_t* from) {
  Integers r;
  for (int i = 0; i < kParts; ++i)
    r.part[i] = reinterpret_cast<const UnalignedUnsignedVector*>(from)[i];
  return r;
}
[[gnu::always_inline]] inline void store(std::int64_t* to, Integers a) {
  for (int i = 0; i < kParts; ++i) reinterpret_cast<UnalignedUnsignedVector*>(to)[i] = a.part[i];
}
[[gnu::always_inline]] inline Integers clamp(Integers a, std::int64_t low, std::int64_t high) {
  for (auto& v : a.part) {
    const IntegerVector x = (IntegerVector)v, from = low - IntegerVector{},
                        to = high - IntegerVector{};
    v = (UnsignedVector)(x < from ? from : x > to ? to : x);
  }
  return a;
}
[[gnu::always_inline]] inline Integers add_where(Mask yes, Integers a, std::int64_t b) {
  for (int i = 0; i < kParts; ++i)
    a.part[i] += (UnsignedVector)yes.part[i] & static_cast<std::uint64_t>(b);
  return a;
}
[[gnu::always_inline]] inline Mask below(std::int64_t limit) {  // lanes whose number is
  Mask r;
  std::int64_t lane = 0;
  for (auto& v : r.part) {
    for (unsigned i = 0; i < kVectorBytes / sizeof(double); ++i) v[i] = lane++ < limit ? -1 : 0;
  }
  return r;
}

// from[index], in every lane.
[[gnu::always_inline]] inline Lanes gather(const double* from, Integers index) {
  Lanes r;
#if defined(__AVX512F__)
  r.part[0] = (DoubleVector)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), 0xff,
                                                     (__m512i)index.part[0], from, 8);
#else
  for (int i = 0; i < kParts; ++i) {
    for (unsigned n = 0; n < kVectorBytes / sizeof(double); ++n)
      r.part[i][n] = from[static_cast<std::int64_t>(index.part[i][n])];
  }
#endif
  return r;
}

// Four neighbouring numbers in every lane, from first(lane) on. Cheaper than four times one: every
// lane is one load, and then rows are made columns.
struct FourLanes {
  Lanes number[4];
};
#if defined(__AVX__)
typedef double FourNumbers __attribute__((vector_size(32)));
typedef double UnalignedFourNumbers __attribute__((vector_size(32), aligned(8), may_alias));
template <class First>
[[gnu::always_inline]] inline FourLanes four_from(First first) {
  const auto row = [&](int lane) __attribute__((always_inline))->FourNumbers {
    return *reinterpret_cast<const UnalignedFourNumbers*>(first(lane));
  };
  FourLanes r;
#if defined(__AVX512F__)
  const auto rows = [&](int lane) {  // and the one four lanes behind it
    return __builtin_shufflevector(row(lane), row(lane + 4), 0, 1, 2, 3, 4, 5, 6, 7);
  };
  const DoubleVector a = rows(0), b = rows(1), c = rows(2), d = rows(3);
  const DoubleVector even_ab = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
  const DoubleVector even_cd = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
  const DoubleVector odd_ab = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  const DoubleVector odd_cd = __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
  r.number[0].part[0] = __builtin_shufflevector(even_ab, even_cd, 0, 1, 8, 9, 4, 5, 12, 13);
  r.number[1].part[0] = __builtin_shufflevector(odd_ab, odd_cd, 0, 1, 8, 9, 4, 5, 12, 13);
  r.number[2].part[0] = __builtin_shufflevector(even_ab, even_cd, 2, 3, 10, 11, 6, 7, 14, 15);
  r.number[3].part[0] = __builtin_shufflevector(odd_ab, odd_cd, 2, 3, 10, 11, 6, 7, 14, 15);
#else
  for (int i = 0; i < kParts; ++i) {
    const DoubleVector a = row(4 * i), b = row(4 * i + 1), c = row(4 * i + 2), d = row(4 * i + 3);
    const DoubleVector even_ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    const DoubleVector even_cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    const DoubleVector odd_ab = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const DoubleVector odd_cd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    r.number[0].part[i] = __builtin_shufflevector(even_ab, even_cd, 0, 1, 4, 5);
    r.number[1].part[i] = __builtin_shufflevector(odd_ab, odd_cd, 0, 1, 4, 5);
    r.number[2].part[i] = __builtin_shufflevector(even_ab, even_cd, 2, 3, 6, 7);
    r.number[3].part[i] = __builtin_shufflevector(odd_ab, odd_cd, 2, 3, 6, 7);
  }
#endif
  return r;
}
#else
template <class First>
[[gnu::always_inline]] inline FourLanes four_from(First first) {
  constexpr int kEach = kLanes / kParts;
  FourLanes r;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int n = 0; n < 4; ++n) r.number[n].part[lane / kEach][lane % kEach] = first(lane)[n];
  return r;
}
#endif
[[gnu::always_inline]] inline FourLanes gather_four(const double* from, Integers index) {
  constexpr int kEach = kLanes / kParts;
  return four_from([&](int lane) __attribute__((always_inline)) {
    return from + static_cast<std::int64_t>(index.part[lane / kEach][lane % kEach]);
  });
}

[[gnu::always_inline]] inline Integers gather(const std::int64_t* from, Integers index) {
  return bits(gather(reinterpret_cast<const double*>(from), index));
}

// The largest power of two that is not above a positive x, and its inverse.
[[gnu::always_inline]] inline Lanes power_below(Lanes x) {
  return from_bits(bits(x) & (std::uint64_t{0x7ff} << 52));
}
[[gnu::always_inline]] inline Lanes inverse_power_below(Lanes x) {
  Integers r = bits(x) & (std::uint64_t{0x7ff} << 52);
  for (auto& v : r.part) v = (std::uint64_t{2046} << 52) - v;
  return from_bits(r);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
