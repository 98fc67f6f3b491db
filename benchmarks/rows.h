#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sets/worst_case.h"

namespace redoubt::bench {
using namespace internal;

// Random rows over a few states whose values stay in the first-level cache: what is measured is
// arithmetic.
class Rows {
 public:
  Rows(int outcomes, double radius, std::uint64_t seed = 1);

  // One backup of every row and lane with the kernel of this set.
  std::function<void()> backup(const Uncertainty& set);
  // The same by std::sort of each lane, for total variation.
  std::function<void()> sort_backup();

  // The first lane of every row, with the others idle.
  std::function<void()> backup_of_one(const Uncertainty& set);

  int values_of_one() const { return values() / kLanesPerRow; }
  int values() const;  // successor values that one backup reads
  const Work& work() const { return scratch_.work; }

 private:
  static constexpr int kStates = 40, kRows = 16, kLanesPerRow = 64;

  int outcomes_;
  double radius_;
  std::vector<double> values_;           // [state][lane], after some padding
  std::vector<double> probability_;      // [row][outcome]
  std::vector<const double*> pointers_;  // [row][outcome]
  std::vector<double> worst_;
  Scratch scratch_;
};

}  // namespace redoubt::bench
