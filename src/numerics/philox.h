#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace redoubt::internal {

// Philox4x32-10 (Salmon et al., SC 2011): a bijection of a 128-bit counter under a 64-bit key.
inline std::array<std::uint32_t, 4> philox_block(const std::array<std::uint32_t, 4>& counter,
                                                 const std::array<std::uint32_t, 2>& key) {
  const r123::Philox4x32::ctr_type block =
      r123::Philox4x32()({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {block[0], block[1], block[2], block[3]};
}

// Random numbers that depend on (seed, stream, substream, number of draws so far) and on nothing
// else: whoever draws for row 17 gets the same numbers on any thread or rank, in any order of rows.
// Key: the seed, low word first. Counter: block, substream, stream low, stream high. Each block
// holds two 64-bit draws, low word first; a stream repeats itself after 2^33 of them.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0, std::uint32_t substream = 0)
      : key_{low(seed), high(seed)}, counter_{0, substream, low(stream), high(stream)} {}

  std::uint64_t bits() {
    if (second_) {
      second_ = false;
      return join(block_[2], block_[3]);
    }
    block_ = philox_block(counter_, key_);
    ++counter_[0];
    second_ = true;
    return join(block_[0], block_[1]);
  }

  // Uniform in [0, 1): a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  // Standard normal by Box and Muller: two uniforms for each, the sine twin is not used, so that
  // the position in the stream never depends on what was drawn before.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is never zero
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  // Uniform in 0..n-1 without bias, n >= 1: draws below 2^64 mod n are thrown away.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t excess = (0 - n) % n;
    std::uint64_t draw = bits();
    while (draw < excess) draw = bits();
    return draw % n;
  }

 private:
  static std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
  static std::uint64_t join(std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint64_t>(high) << 32 | low;
  }

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_ = {};
  bool second_ = false;  // the block's second half is still to be handed out
};

}  // namespace redoubt::internal
