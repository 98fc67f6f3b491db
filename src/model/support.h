#pragma once

#include <algorithm>

#include "redoubt/problem.h"

namespace redoubt::internal {

// Which outcomes nature may leave out, and which it may add: all that a graph shows of a set. Sets
// are convex, so that kernels which add outcomes can be mixed, and what is possible for two kernels
// is possible for one.
class Support {
 public:
  Support(const Model& model, const Uncertainty& uncertainty)
      : model_(&model), uncertainty_(&uncertainty) {}

  // Whether a row may lead to states that it does not list.
  bool lands_anywhere(Row row) const;

  // Whether some kernel of the set keeps the row within the states of which inside(state) is true.
  // Nature leaves a set of outcomes of mass m out, nominal or the least that bounds allow, if
  //     tv: m <= radius; chi2: m / (1 - m) <= radius; kl: -log(1 - m) <= radius;
  //     interval: their lower bounds are zero and the upper bounds of the others reach one.
  template <class Inside>
  bool may_stay(Row row, const Inside& inside) const {
    const ModelArrays& a = model_->arrays();
    double left_out = 0, kept = 0;   // nominal mass
    double least_out = 0, most = 0;  // and what the bounds say of it
    bool must_leave = false, all = true, some = false;
    for (auto i = model_->outcome_begin(row); i < model_->outcome_end(row); ++i) {
      if (!possible(row, i)) continue;
      const bool in = inside(a.next[i]);
      (in ? kept : left_out) += a.probability[i];
      all &= in, some |= in;
      if (a.lower.empty()) continue;
      (in ? most : least_out) += in ? a.upper[i] : a.lower[i];
      must_leave |= !in && a.lower[i] > 0;
    }
    if (all) return true;
    if (std::holds_alternative<Composed>(*uncertainty_)) {  // around the row that leaves out least
      left_out = std::max(least_out, 1 - most);
      kept = 1 - left_out;
    }
    return (some || lands_anywhere(row)) && may_leave_out(row, left_out, kept, most, must_leave);
  }

  // Whether every kernel leads to a state of which inside(state) is true with positive probability.
  template <class Inside>
  bool must_meet(Row row, const Inside& inside) const {
    return !may_stay(row, [&](State s) { return !inside(s); });
  }

  // Whether every kernel stays within such states.
  template <class Inside>
  bool stays(Row row, const Inside& inside) const {
    if (lands_anywhere(row)) return false;
    for (auto i = model_->outcome_begin(row); i < model_->outcome_end(row); ++i)
      if (possible(row, i) && !inside(model_->arrays().next[i])) return false;
    return true;
  }

  // Whether all kernels have the same outcomes.
  bool is_fixed(Row row) const;

  bool possible(Row row, std::int64_t outcome) const;  // under some kernel

 private:
  bool may_leave_out(Row row, double left_out, double kept, double most, bool must_leave) const;

  const Model* model_;
  const Uncertainty* uncertainty_;
};

}  // namespace redoubt::internal
