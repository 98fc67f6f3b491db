#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "redoubt/advanced/ranks.h"

namespace redoubt::internal {

// Anderson acceleration of steps x -> g(x) along a chain that stays the same, for a vector of which
// each rank has a part: instead of g(x) the combination of the last few g(x) whose changes g(x) - x
// nearly cancel. Sums are rounded so that their order does not matter: any number of ranks goes the
// same way.
class Anderson {
 public:
  // Takes x and g, which is g(x), and makes the combination of it. Without steps before it, or
  // where their changes hardly differ, g stays as it is.
  void combine(std::span<const double> x, std::span<double> g, Communicator& ranks);
  void forget() { count_ = 0, first_ = true; }

 private:
  static constexpr std::size_t kMost = 6;  // steps that are combined

  struct Step {  // what differs from one time to the next
    std::vector<double> change, g;
    double size = 0;  // the largest change
  };
  void remember(std::span<const double> x, std::span<const double> g, Communicator& ranks);
  void multiply(Communicator& ranks);
  bool find_weights();

  std::array<Step, kMost> steps_;  // a ring: the oldest makes room
  std::size_t count_ = 0, newest_ = 0;
  bool first_ = true;
  std::vector<double> change_, g_;  // of the last time
  double size_ = 0;                 // the largest change
  double length_ = 0;               // of the vector, on all ranks
  // Products of changes, in units of their sizes: of two steps, and of a step and the last change.
  std::array<std::array<double, kMost>, kMost> products_{};
  std::array<double, kMost> with_last_{};
  std::array<double, kMost> weight_{};
};

}  // namespace redoubt::internal
