#pragma once

#include <cstdint>
#include <random>

namespace redoubt::testing {

// Only the bits of the engine are fixed by the standard, so distributions are ours.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  int below(int n) { return static_cast<int>(uniform() * n); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace redoubt::testing
