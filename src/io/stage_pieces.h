#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/hdf5.h"
#include "io/state_ranges.h"
#include "redoubt/policy.h"
#include "redoubt/stage_store.h"

namespace redoubt::io {

// The stages of a policy on their way into one file, wherever they are: in memory or in a store, on
// one rank or on several. The rank that writes holds one range of the states of a stage besides its
// own.
class StagePieces {
 public:
  // On every rank. `own` is how many states the stages are for.
  StagePieces(const std::vector<Policy::Stage>& stages, State own, const Owners& owners,
              const StageStore* store);

  bool writes() const { return owners_.ranks->rank() == 0; }
  void write(hdf5::Output& out, const std::string& prefix) const;  // by the rank that writes
  void hand_over() const;                                          // by all others

 private:
  // A piece of an array: what a range of states has at a stage. Of landings, which lie plan by
  // plan, what all states have by some plans.
  struct Piece {
    int stage = 0;
    int range = 0;
    std::int64_t plan = 0, plan_end = 1;
    std::int64_t size = 0;  // of all ranks
    bool first() const { return plan == 0 && range == 0; }
  };
  std::vector<Piece> landing_pieces(int stage) const;
  const StateRanges& ranges_of(const std::string& name) const;
  const Policy::Stage& stage(int h) const;
  bool alone() const { return owners_.ranks->size() == 1; }
  template <class Value>
  std::vector<Piece> pieces_of(const std::string& name,
                               std::vector<Value> Policy::Stage::*array) const;
  std::int64_t own_size(const Piece& piece, const std::string& name, bool empty) const;
  template <class Value>
  std::vector<Value> fetch(const Piece& piece, const std::string& name,
                           std::vector<Value> Policy::Stage::*array) const;
  std::vector<std::int64_t> to_offsets(const Piece& piece, const std::string& name,
                                       const std::vector<std::int64_t>& lengths) const;

  const std::vector<Policy::Stage>& stages_;
  State own_;
  Owners owners_;
  const StageStore* store_;
  StateRanges ranges_, whole_;                        // the states, in ranges and as one
  std::vector<std::int64_t> plans_;                   // of each stage, on any rank
  std::map<std::string, std::vector<Piece>> pieces_;  // by array
  mutable int loaded_ = -1;                           // the stage of the store that is in memory
  mutable Policy::Stage stage_;
  // Of the lengths so far, of this array and stage, on the rank that writes.
  mutable std::int64_t total_ = 0;
  mutable std::pair<std::string, int> total_of_;
};

}  // namespace redoubt::io
