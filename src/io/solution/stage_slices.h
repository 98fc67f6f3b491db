#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/solution/hdf5.h"
#include "redoubt/policy.h"

namespace redoubt::internal::io {

// The stages of a policy in a file, of which only what belongs to some states is read.
class StageSlices {
 public:
  // Of a policy for this many states, whose rows have up to `most_outcomes` outcomes.
  StageSlices(const hdf5::Input& in, std::string prefix, State states, int most_outcomes);

  int count() const { return static_cast<int>(memory_.size()); }
  // The decisions of states begin..end-1; none where the stage was not made yet.
  Policy::Stage read(int h, State begin, State end) const;
  // The same for the states that a model owns, which may lie anywhere among others.
  Policy::Stage read_own(int h, const Model& model) const;

 private:
  // Entries of one array of a stage, counted from where the stage begins in it.
  template <class Value>
  std::vector<Value> entries(const char* name, int stage, std::int64_t at,
                             std::int64_t count) const;
  std::int64_t size(const char* name, int stage) const;
  void read_moves(int h, Policy::Stage& stage) const;
  void read_landings(int h, State begin, State end, Policy::Stage& stage) const;
  void append_state(Policy::Stage& to, const Policy::Stage& from, State state) const;

  const hdf5::Input& in_;
  std::string prefix_;
  State states_;
  int most_outcomes_;
  std::vector<std::int32_t> memory_;
  std::map<std::string, std::vector<std::int64_t>> begin_;  // of each array: where stages begin
};

}  // namespace redoubt::internal::io
