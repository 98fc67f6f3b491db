#pragma once

#include <functional>
#include <vector>

#include "evaluation/taken_rows.h"

namespace redoubt::internal {

// True when sweeps cannot make a bracket much narrower, because the worst cases of rows are no more
// exact: `last` is how wide it was one sweep earlier, `scale` the largest size of a value.
bool as_narrow_as_rounding(const Problem& problem, double width, double last, double scale);

// The values of a policy that takes the same rows for ever, in one channel: nature's modified
// policy iteration. A robust sweep finds nature's distributions; while they are kept, sweeps are
// products with a sparse matrix. Not for `tilt`, whose distributions are no minimum.
class StationaryValues {
 public:
  explicit StationaryValues(TakenSweep& sweep) : sweep_(&sweep) {}

  // About, for this many taken rows and with the values themselves.
  static double bytes(const Problem& problem, std::int64_t rows);

  // Brings the values closer to those of the policy, until the bracket of the last robust sweep is
  // no wider than `width` (of the largest size of a value), or than rounding allows. The values of
  // the policy lie within that bracket of the values.
  using Width = std::function<double(double scale)>;
  Bracket improve(const TakenRows& taken, const Channel& channel, std::vector<double>& values,
                  const Width& width);

 private:
  void make_room(const TakenRows& taken);
  void fix_distributions(const TakenRows& taken, const Channel& channel);
  void sweep_fixed(const Channel& channel, std::vector<double>& values);
  Residual fixed_step(std::vector<double>& next, std::vector<double>& values);

  TakenSweep* sweep_;
  TakenDistributions distributions_;
  // The chain of policy and nature: of own state number i, what it earns and, from begin_[i] on,
  // where it leads with the distributions' probability. Mass that lands outside leads to one more
  // state, which has the least value of all.
  std::vector<std::int64_t> begin_;
  std::vector<State> next_;
  std::vector<double> earned_;
  std::vector<double> better_, here_;
};

// The middle of the bracket, in states that are not terminal.
void move_to_middle(const Model& model, Exchange& exchange, const Bracket& bracket,
                    std::vector<double>& values);

}  // namespace redoubt::internal
