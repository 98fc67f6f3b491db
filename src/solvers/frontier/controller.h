#pragma once

#include "redoubt/policy.h"
#include "solvers/frontier/stage.h"
#include "sweep/exchange.h"

namespace redoubt {

// The policy that follows the recipes from any of the given points of the first stage: memory is
// the point. Points that nothing leads to are left out; at the first stage, memory is the given
// ones in their order. Of a part, the policy of its own states; points that other ranks lead to are
// theirs, too. Throws Stopped.
Policy make_controller(const Problem& problem, const Landings& landings,
                       const std::vector<FrontierStage>& stages, Exchange& exchange,
                       Workers& workers, const std::vector<std::int32_t>& first_points,
                       const std::vector<std::vector<std::int32_t>>* end = nullptr);

// The stationary policy of an infinite horizon whose memory is a point of any stage: with one
// constraint the corners of the curve through all of them, otherwise those that are best in some
// direction. The first memory states of every state are the best of them in the directions of the
// first stage, in their order. Throws Stopped.
Policy pool_stages(const Problem& problem, const Landings& landings,
                   const std::vector<FrontierStage>& stages, Workers& workers);

}  // namespace redoubt
