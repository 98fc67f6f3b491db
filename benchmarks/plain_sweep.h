#pragma once

#include <vector>

#include "bellman/row_evaluator.h"

namespace redoubt::bench {

// One sweep of a robust value iteration as one would write it at first: over one row after the
// other, every action of every state, for the reward alone.
class PlainSweep {
 public:
  explicit PlainSweep(const Problem& problem);
  void operator()();

 private:
  const Model& model_;
  internal::RowEvaluator rows_;
  std::vector<double> next_, values_;
  std::vector<const double*> pointers_;
};

}  // namespace redoubt::bench
