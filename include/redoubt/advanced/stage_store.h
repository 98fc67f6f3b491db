#pragma once

#include "redoubt/policy.h"

namespace redoubt {

// A place for the stages of a policy other than RAM, which then does not grow with the horizon.
// A solve puts each stage when it has made it, from the last to the first, and gets them in the
// same order to evaluate the policy. The policy that it returns has stages without decisions; the
// store has them.
class StageStore {
 public:
  virtual ~StageStore() = default;
  virtual void put(int stage, const Policy::Stage& decisions) = 0;
  virtual bool has(int stage) const = 0;
  virtual Policy::Stage get(int stage) const = 0;
};

}  // namespace redoubt
