#pragma once

#include <vector>

#include "redoubt/policy.h"

namespace redoubt::internal {

// What a policy guarantees from each stage, state and memory on: the worst cases of the reward and
// of the expected total of every constraint's signal. A chance constraint is judged by its expected
// total, too.
class Promises {
 public:
  Promises(const Problem& problem, const Policy& policy);

  // The memory that promises the constraints most: the one whose least promise is the largest, each
  // measured between the least and the largest that any memory of the state makes; of equals, the
  // one with the larger reward, then the first.
  std::int32_t best_memory(int stage, State state) const;

 private:
  const Policy* policy_;
  std::size_t channels_;
  std::vector<std::vector<double>> values_;  // of each stage, [channel][node]
};

}  // namespace redoubt::internal
