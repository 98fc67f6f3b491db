#pragma once

#include <vector>

#include "json.h"
#include "redoubt/solve.h"

namespace redoubt::app {

// What a solve by rcvi would ask of one of several ranks.
struct RankPlan {
  State states = 0;  // whose rows it has
  State others = 0;  // of other ranks, whose values it needs
  MemoryPlan memory;
  double received = 0;  // bytes, in the widest stage
};

// As each of this many ranks would plan it, all of them in this process.
std::vector<RankPlan> plan_ranks(const Problem& problem, const RcviOptions& options, int count);

Json memory_json(const MemoryPlan& memory);
Json rank_plans_json(const std::vector<RankPlan>& plans);
void print_rank_plans(const std::vector<RankPlan>& plans);

}  // namespace redoubt::app
