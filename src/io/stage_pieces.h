#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/hdf5.h"
#include "redoubt/policy.h"
#include "redoubt/ranks.h"
#include "redoubt/stage_store.h"

namespace redoubt::io {

// The stages of a policy on their way into one file, wherever they are: in memory or in a store, on
// one rank or on several. No rank ever holds more than one stage of one rank besides its own.
class StagePieces {
 public:
  StagePieces(const std::vector<Policy::Stage>& stages, Communicator& ranks,
              const StageStore* store);  // on every rank

  bool writes() const { return ranks_.rank() == 0; }
  void write(hdf5::Output& out, const std::string& prefix) const;  // by the rank that writes
  void hand_over() const;                                          // by all others

 private:
  using Sizes = std::vector<std::size_t>;  // of each stage and rank
  const Policy::Stage& stage(int h) const;
  std::int64_t before(int h, const char* name) const;
  std::int64_t shift(int h, const std::string& name) const;
  template <class Value>
  std::vector<Value> own(int h, const char* name, std::vector<Value> Policy::Stage::*array) const;
  template <class Value>
  std::vector<Value> piece(std::size_t i, const char* name,
                           std::vector<Value> Policy::Stage::*array) const;

  const std::vector<Policy::Stage>& stages_;
  Communicator& ranks_;
  const StageStore* store_;
  std::map<std::string, Sizes> sizes_;  // by array
  mutable int loaded_ = -1;             // the stage of the store that is in memory
  mutable Policy::Stage stage_;
};

}  // namespace redoubt::io
