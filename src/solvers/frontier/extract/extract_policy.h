#pragma once

#include "parallel/exchange.h"
#include "redoubt/policy.h"
#include "solvers/frontier/search/stage.h"

namespace redoubt::internal {

// The policy that follows the recipes from any of the given points of the first stage: memory is
// the point. Points that nothing leads to are left out; at the first stage, memory is the given
// ones in their order. Of a subproblem, the policy of its own states; points that other ranks lead
// to are theirs, too. Throws Stopped.
Policy make_policy(const Problem& problem, const Landings& landings,
                   const std::vector<FrontierStage>& stages, Exchange& exchange, Workers& workers,
                   const std::vector<std::int32_t>& first_points);

// The policy that follows the recipes of one stage for ever. Memory is a point. What a recipe
// promises of the next stage is kept by points of this one.
struct StationaryPolicy {
  Policy policy;
  std::vector<double> numbers;  // of each state and direction: the memory state of its point
  int directions = 0;

  std::int32_t memory(State state, std::int32_t direction) const {
    return static_cast<std::int32_t>(numbers[std::int64_t{state} * directions + direction]);
  }
};

// Both stages have the same directions. Ranks call this together. Throws Stopped.
StationaryPolicy make_stationary(const Problem& problem, const Landings& landings,
                                 const FrontierStage& here, const FrontierStage& next,
                                 Exchange& exchange, Workers& workers);

// The same with more memory states, the first ones of every state: the given points in their order.
Policy begin_with_points(const StationaryPolicy& stationary, const Model& model,
                         const std::vector<std::int32_t>& points);

}  // namespace redoubt::internal
