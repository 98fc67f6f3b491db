#pragma once

#include <optional>
#include <vector>

#include "json.h"
#include "problem_options.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"

namespace redoubt::app {

// What solves by other methods than rcvi need; nothing of those that do not take the problem, or
// would solve a larger one for its chance constraints.
struct OtherPlans {
  std::optional<MemoryPlan> robust, frontier;
};
OtherPlans plan_others(const Problem& problem);
void add_other_plans(Json& object, const OtherPlans& plans);

// What solves would ask of one of several ranks.
struct RankPlan {
  State states = 0;     // whose rows it has
  State others = 0;     // of other ranks, whose values it needs
  MemoryPlan memory;    // by rcvi
  double received = 0;  // bytes, in the widest stage of rcvi
  OtherPlans other;
};

// As each of this many ranks would plan it, all of them in this process.
std::vector<RankPlan> plan_ranks(const Problem& problem, const RcviOptions& options, int count,
                                 const PartitionOptions& divided);

Json memory_json(const MemoryPlan& memory);
Json rank_plans_json(const std::vector<RankPlan>& plans);
void print_rank_plans(const std::vector<RankPlan>& plans);
// What blocks and a partition leave to send, in the widest stage.
void print_needed(const NeededStates& needed, const RcviPlan& plan);

// Keeps what each rank needs, and tells it before the work where somebody may want to know: on
// several ranks, or when it is much.
class MemoryOfRanks {
 public:
  explicit MemoryOfRanks(bool silent) : silent_(silent) {}
  void hear(const MemoryPlan& mine);  // all ranks call it
  void add_to(Json& object) const;    // `bytes` and `memory`, those of every rank

 private:
  bool silent_;
  std::vector<MemoryPlan> ranks_;
};

}  // namespace redoubt::app
