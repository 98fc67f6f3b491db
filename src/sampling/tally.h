#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "redoubt/estimate.h"

namespace redoubt::internal {

// Counts samples by row and outcome. Counting does not depend on the order in which samples come.
class Tally {
 public:
  explicit Tally(const SimulatorShape& shape);

  void add(Row row, const Sample& sample);  // of a checked sample
  void add(const Tally& other);

  // Rows that nobody has seen are the whole simplex or, where they are ignored, one outcome.
  Estimate finish(bool ignore_unseen = false) const;

 private:
  using Outcome = std::vector<double>;  // next state, reward, signals
  const SimulatorShape& shape_;
  std::vector<std::map<Outcome, std::int64_t>> rows_;
  Outcome key_;  // of the sample that is being added
};

}  // namespace redoubt::internal
