#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/solution/hdf5.h"
#include "io/solution/state_ranges.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/policy.h"

namespace redoubt::internal::io {

// The stages of a policy on their way into one file, wherever they are: in memory or in a store, on
// one rank or on several. A rank that writes holds one range of the states of a stage besides its
// own.
class StagePieces {
 public:
  // On every rank. `own` is how many states the stages are for.
  StagePieces(const std::vector<Policy::Stage>& stages, State own, const Owners& owners,
              const StageStore* store);

  bool writes() const { return owners_.ranks->rank() == 0; }

  // Through the first rank, which writes while it goes on with the file.
  void write(hdf5::Output& out, const std::string& prefix) const;  // by the rank that writes
  void hand_over() const;                                          // by all others

  // By all ranks, each a range of the states. The first leaves room for the arrays; all fill it
  // when the file is closed. They must see the same files. Only the first need say where it is.
  void leave_room(hdf5::Output& out, const std::string& prefix) const;
  void fill(const std::filesystem::path& path) const;

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
  template <class Array>
  std::vector<Piece> pieces_of(const std::string& name, Array Policy::Stage::*array) const;
  std::int64_t own_size(const Piece& piece, const std::string& name, bool empty) const;
  template <class Array>
  std::vector<typename Array::value_type> fetch(const Piece& piece, const std::string& name,
                                                Array Policy::Stage::*array, int writer) const;
  void count_lengths(const Piece& piece, const std::string& name,
                     const std::vector<std::int64_t>& lengths) const;
  std::vector<std::int64_t> to_offsets(const Piece& piece, const std::string& name,
                                       const std::vector<std::int64_t>& lengths) const;
  void write_memory(hdf5::Output& out, const std::string& prefix) const;
  std::vector<std::size_t> sizes_of_stages(const std::string& name) const;

  const std::vector<Policy::Stage>& stages_;
  State own_;
  Owners owners_;
  const StageStore* store_;
  StateRanges ranges_, whole_;                        // the states, in ranges and as one
  std::vector<std::int64_t> plans_;                   // of each stage, on any rank
  std::map<std::string, std::vector<Piece>> pieces_;  // by array
  mutable int loaded_ = -1;                           // the stage of the store that is in memory
  mutable Policy::Stage stage_;
  // Of the lengths before the piece at hand, of this array and stage, on all ranks.
  mutable std::int64_t total_ = 0, next_total_ = 0;
  mutable std::pair<std::string, int> total_of_;
  mutable std::vector<std::uint64_t> rooms_;  // of the arrays, in their order
};

}  // namespace redoubt::internal::io
