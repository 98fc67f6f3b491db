#pragma once

#include <cstdint>
#include <vector>

#include "parallel/workers.h"
#include "redoubt/policy.h"
#include "redoubt/problem.h"

// Which pairs of a state and of what its chance constraints must still earn episodes can come to.
namespace redoubt::internal {

// What is still to be earned for each chance constraint of a problem: the places on their lattices,
// counted from the lowest one of any stage, as one number.
class ChanceBudgets {
 public:
  ChanceBudgets(const Problem& problem, Workers& workers);

  const std::vector<int>& chance() const { return chance_; }  // the constraints
  const std::vector<BudgetAxis>& axes() const { return axes_; }
  // The same rows at every stage, and so the same pairs follow a pair.
  bool stationary() const { return stationary_; }

  std::int64_t start() const;
  // After an outcome of a row (counted from its first; -1 is a landing outside of them, in state
  // `landed` where arrivals there earn something).
  std::int64_t moved(const Model& model, int stage, std::int64_t budgets, Row row,
                     std::int64_t outcome, State landed = -1) const;
  // 1 when nothing more is to be earned for chance constraint c, else 0.
  double kept(std::size_t c, std::int64_t budgets) const;

 private:
  std::int64_t place(std::size_t c, std::int64_t budgets) const;  // on the lattice of constraint c

  std::vector<int> chance_;
  std::vector<BudgetAxis> axes_;
  bool stationary_ = false;
  std::vector<std::int64_t> lowest_, width_;  // of each lattice, over all stages
};

struct Pair {
  State state = 0;  // in the whole model
  std::int64_t budgets = 0;
  auto operator<=>(const Pair&) const = default;
};

// What follows a pair, a row and one of its outcomes.
struct Successor {
  Pair pair;
  std::int64_t outcome = 0;  // of the row; its number of outcomes: a landing outside of them
};
std::vector<Successor> successors(const Problem& problem, const ChanceBudgets& budgets, int stage,
                                  const Pair& pair, Row row);

// The pairs that episodes can come to. A rank has those of its own states, and learns of those of
// others that its rows lead to: what follows a stage's pairs is sent to the ranks that own it, who
// go on from there.
struct ReachedPairs {
  // Our own, of each stage; sorted. Where every stage has the same rows: those that no stage before
  // has reached.
  std::vector<std::vector<Pair>> at_stage;
  std::vector<Pair> own;    // at any stage, sorted
  std::vector<Pair> known;  // these, those that they lead to, and the start; sorted
  // Of a subproblem: the numbers that known pairs have when those of all ranks are counted, and
  // the ranks that own them.
  std::vector<State> number;
  std::vector<std::int32_t> owner;
  State all = 0;  // of all ranks
};
// An Error, with the bytes that they would take, when there are too many. Throws Stopped.
// What is done with them takes at least `bytes_for_each` beside the arrays of their model.
ReachedPairs reached_pairs(const Problem& problem, const ChanceBudgets& budgets, Workers& workers,
                           double bytes_for_each);

}  // namespace redoubt::internal
