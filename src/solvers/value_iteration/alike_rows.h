#pragma once

#include <span>
#include <vector>

#include "redoubt/problem.h"
#include "sets/row.h"

namespace redoubt::internal {

// Copies of short rows without uncertainty, for the many sweeps of a long horizon over few states:
// in each block of states those whose rows look alike, side by side (AlikeStates).
class AlikeRows {
 public:
  // Of states[i], whose rows `of` knows by that number. What is found is number i.
  AlikeRows(const Model& model, const RowsOfStates& of, std::span<const State> states);

  // Whether a problem has so many stages, and so few outcomes that copies are nearer than the
  // model.
  static bool pay(const Problem& problem);
  static double bytes(const Model& model);

  std::int64_t blocks() const { return static_cast<std::int64_t>(blocks_.size()) - 1; }
  // Those that have rows of other shapes, which are read in the model.
  State others() const { return static_cast<State>(others_.size()); }

  // What the best rows of a block are worth, and which these are: `best` and `position` are those
  // of its first state. As best_expected.
  struct Kernels {
    BestAlike alike;
    BestExpected any;
  };
  bool best(std::int64_t block, const Kernels& kernels, const SparseRows& matrix,
            const RowsOfStates& of, const double* values, double* room, double* best,
            std::int32_t* position) const;

 private:
  struct Run {  // of states that look alike, and where theirs begin
    std::int32_t states, rows, outcomes;
    std::int64_t first_state, first_row, first_outcome;
  };
  struct Block {
    std::int64_t run, other;  // the first of each
  };
  void add_run(const Model& model, const RowsOfStates& of, std::span<const State> states,
               std::span<const std::int8_t> shapes, std::int8_t shape);

  std::vector<Block> blocks_;
  std::vector<Run> runs_;
  std::vector<State> place_, others_, place_of_others_;
  std::vector<std::int32_t> next_;
  std::vector<double> probability_, earned_;
};

}  // namespace redoubt::internal
