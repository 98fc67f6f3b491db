#pragma once

#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "parallel/exchange.h"
#include "parallel/workers.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// Value iteration of the nominal model for a weighted sum of its channels. Without uncertainty one
// nature serves all channels, so the totals of the policy come with it.
class WeightedValueIteration {
 public:
  // The problem has set none, or some policies never come to an end; the channels are the reward
  // and its constraints.
  WeightedValueIteration(const Problem& problem, std::span<const Channel> channels,
                         Workers& workers, Stopwatch& watch);

  struct Best {
    Policy policy;                // memoryless
    std::vector<double> totals;   // of each channel
    double bound = 0;             // no policy has more of the weighted sum
    std::vector<double> weights;  // of that sum: those that were asked for, or nearly so
    double row_evaluations = 0;
  };
  // `tolerance` is what an infinite horizon may leave open, in units of the weighted sum. Throws
  // Stopped.
  Best find(std::span<const double> weights, double tolerance);

  double& own_evaluations() { return evaluations_; }  // by this rank
  double row_evaluations() const { return sum_over_ranks(workers_.ranks(), evaluations_); }

 private:
  void weigh(std::span<const double> weights);
  Best over_stages();
  Best for_ever(std::span<const double> weights, double tolerance);
  void ask(double done) const;  // of the policy at hand
  void improve(int stage);
  double value_of(Row row, const double* next) const;
  LayerView layer() { return {here_.data(), stride_, 1, 0, stride_}; }
  double work() const;
  double at_start(const std::vector<double>& values, std::int64_t stride, int lane) const;

  const Problem& problem_;
  std::span<const Channel> channels_;
  Workers& workers_;
  Stopwatch& watch_;
  Exchange exchange_;
  std::int64_t stride_;              // the weighted sum, then each channel
  std::vector<double> expected_;     // [row][channel]
  std::vector<double> weighted_;     // [row]
  std::vector<double> here_, next_;  // of a finite horizon, [state][stride]
  std::vector<double> first_;        // totals of the first policy found for ever, [state][channel]
  std::vector<std::int32_t> actions_;  // of this rank's states
  double evaluations_ = 0;
  int found_ = 0;  // policies, with the one at hand
};

}  // namespace redoubt::internal
