#pragma once

#include <string>
#include <vector>

#include "io/hdf5.h"
#include "redoubt/policy.h"

namespace redoubt::io {

// The stages of a policy in a file, of which only what belongs to some states is read. Not for
// policies that move their memory by table.
class StageSlices {
 public:
  StageSlices(const hdf5::Input& in, std::string prefix);

  int count() const { return static_cast<int>(memory_.size()); }
  // The decisions of states begin..end-1; none where the stage was not made yet.
  Policy::Stage read(int stage, State begin, State end) const;

 private:
  const hdf5::Input& in_;
  std::string prefix_;
  std::vector<std::int32_t> memory_;
  std::vector<std::int64_t> mixed_, first_, action_;  // where each stage begins
};

}  // namespace redoubt::io
