#pragma once

#include <span>
#include <vector>

#include "redoubt/advanced/ranks.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// What landing plans of a stage say in every state of the whole model. A rank's policy has all
// plans for its own states; here are, for all states, those plans that it asks for.
class WantedPlans {
 public:
  WantedPlans() = default;
  // On every rank; `wanted` are sorted.
  WantedPlans(const Model& model, const Policy::Stage& stage, std::vector<std::int32_t> wanted,
              Communicator& ranks);

  std::span<const MemoryMove> at(std::int32_t plan, State whole) const;

 private:
  State states_ = 0;
  std::vector<std::int32_t> plans_;
  std::vector<std::int64_t> begin_;  // [plan][state], and the end
  std::vector<MemoryMove> moves_;
};

}  // namespace redoubt::internal
