#pragma once

#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "model/end_components.h"
#include "model/support.h"
#include "policy/memory_update.h"

namespace redoubt::internal {

// The traps of a policy, by the nodes of its last stage: -1 where a set keeps no episode for ever.
std::vector<int> traps_of_nodes(const Problem& problem, const Policy& policy,
                                const Uncertainty& uncertainty);

// What nature does there against one channel. By values alone it could not tell: to stay and to go
// where it wants to leave are worth the same.
class NatureInTraps {
 public:
  // `values`: of each node of the last stage, in the channel's sign.
  NatureInTraps(const Problem& problem, const Policy& policy, const Channel& channel,
                std::span<const double> values);

  bool contains(std::int64_t node) const { return trap_[node] >= 0; }
  // Whether it stays for ever.
  bool stays(std::int64_t node) const { return contains(node) && !ways_[trap_[node]].leaves; }
  // What an outcome of a decision in a trap counts for: least where nature wants to go. Outcome
  // number "number of outcomes" is a landing in `to`.
  double guide(const Decision& taken, std::int64_t outcome, State to) const;

 private:
  struct Way {  // out of a trap
    bool leaves = false;
    double worth = 0;
    std::int64_t node = -1;
    std::int32_t action = 0;
    std::int64_t outcome = 0;
    State to = -1;
  };
  std::int64_t node_of(State s, std::int32_t memory) const;
  // The farthest of the nodes that follow, or -1 where one of them is outside.
  double distance_after(const Decision& taken, std::int64_t outcome, State to, int trap) const;
  void look_for_ways(std::span<const double> values);
  void find_distances();
  template <class Visit>
  void for_each_decision(const Visit& visit) const;
  template <class Visit>
  void for_each_outcome(const Decision& taken, const Visit& visit) const;

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  Channel channel_;
  int stage_;
  Support support_;
  double unit_ = 1;  // beyond what any outcome earns
  std::vector<int> trap_;
  std::vector<Way> ways_;
  std::vector<double> distance_;  // of each node of a trap, to where nature leaves it
};

}  // namespace redoubt::internal
