#pragma once

#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "parallel/exchange.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// Memoryless policies for a finite horizon, one for each lane, where a lane weighs the channels.
// Backward over the stages every state takes the action with the largest weighted sum of worst
// cases, each channel against a nature of its own, as if the weights stayed what they are. (They do
// not: nature's kernels change them from state to state. So these are not the best policies, but
// what they have is guaranteed, and they cost little more than a robust value iteration.)
class LagrangianPolicies {
 public:
  using Weights = std::vector<double>;  // of each channel

  LagrangianPolicies(const Problem& problem, std::span<const Channel> channels, Workers& workers,
                     Exchange& exchange);

  struct Found {
    std::vector<std::vector<double>> totals;  // [lane][channel], in the worst case from the start
    std::vector<Policy> policies;             // of each lane, where they were asked for
    // Where they were asked for, of the first lane: for each stage and each channel but the first,
    // how far one step spreads the logarithm of its weight by that of the first (a variance, on
    // average over states): [stage][constraint].
    std::vector<std::vector<double>> spread;
  };
  // Throws Stopped.
  Found find(const std::vector<Weights>& lanes, bool keep_policies = false);

  double evaluations() const;  // of this rank

 private:
  struct Worker {
    explicit Worker(const Problem& problem) : rows(problem) {}
    RowEvaluator rows;
    std::vector<const double*> next;
    std::vector<double> result, minimiser;
  };
  void step(int stage);
  void choose(int stage, State state, Worker& worker);
  void find_floor();
  const double* const* next_of(Row row, Worker& worker) const;
  std::vector<double> spread_of(int stage);
  double step_spread(Row row, std::size_t constraint, const Worker& worker) const;

  const Problem& problem_;
  std::span<const Channel> channels_;
  Workers& group_;
  Exchange& exchange_;
  std::vector<Worker> workers_;
  std::vector<Weights> lanes_;
  int count_ = 0, padded_ = 0;         // channels times lanes, and as the kernels take them
  std::vector<double> here_, after_;   // [state][channel][lane], of a stage and of the next
  std::vector<double> floor_;          // of the next stage, where nature may land anywhere
  std::vector<std::int32_t> actions_;  // [own state][lane]
};

}  // namespace redoubt::internal
