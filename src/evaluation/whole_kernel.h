#pragma once

#include <vector>

#include "bellman/kernel_totals.h"
#include "redoubt/advanced/ranks.h"

namespace redoubt::internal {

// A kernel of the rows that each rank has of its own states, as one of all states that every rank
// has. On one rank it is the same.
class WholeKernel {
 public:
  // rows_of[i]: how many rows own state number i has; `begin`: the entries of each row, and the
  // end; next states in the numbers of the whole model.
  WholeKernel(const Model& model, Communicator& ranks, const std::vector<Row>& rows_of,
              const std::vector<std::int64_t>& begin, const std::vector<State>& next);

  // With these next states, probabilities of entries and earnings of rows. They must stay as they
  // are while the kernel is used.
  void set(const std::vector<State>& next, const std::vector<double>& probability,
           const std::vector<double>& earned);
  KernelRows rows() const { return {state_rows_, begin_, next_, probability_, earned_}; }
  // What each rank has for its rows, for all rows.
  std::vector<char> of_all_rows(const std::vector<char>& own) const;

 private:
  bool alone() const { return ranks_->size() == 1; }
  template <class Value>
  std::span<const Value> gather(const std::vector<Value>& own,
                                const std::vector<std::int64_t>& from,
                                std::vector<Value>& all) const;

  Communicator* ranks_;
  std::vector<Row> state_rows_;
  std::vector<std::int64_t> begin_;
  std::span<const State> next_;
  std::span<const double> probability_, earned_;
  // On several ranks: where each row and each entry is in the ranks' lists, one after the other.
  std::vector<std::int64_t> row_from_, entry_from_;
  std::vector<State> all_next_;
  std::vector<double> all_probability_, all_earned_;
};

}  // namespace redoubt::internal
