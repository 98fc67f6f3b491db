#pragma once

#include <set>

#include "model/support.h"
#include "redoubt/policy.h"
#include "support/require.h"

namespace redoubt::internal::verified {

inline constexpr const char* kMemoryInTraps =
    "a policy with memory where nature can keep an episode for ever, must have none";

// The states of these nodes that nature need never leave, without anything being earned: each row
// that for_each_row(state, visit) visits can be kept among them. From there on a policy that takes
// these rows may earn nothing. Apart from kept_for_nothing, which evaluations ask.
template <class Nodes, class ForEachRow>
std::set<State> trapped(const Problem& problem, const Policy& policy, const Nodes& nodes,
                        const ForEachRow& for_each_row) {
  require(policy.memory_states() == 1, "{}", kMemoryInTraps);
  std::set<State> states;
  for (const auto& [node, unused] : nodes) states.insert(node.state);
  const Model& model = problem.model();
  const Support support(model, problem.uncertainty());
  const auto earns = [&](Row row, State to) {
    bool any = model.value(-1, row) != 0 || model.arrival_value(-1, to) != 0;
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
      any |= model.arrays().next[i] == to && model.outcome_value(-1, i) != 0;
    return any;
  };
  for (std::size_t before = 0; before != states.size();) {
    before = states.size();
    std::erase_if(states, [&](State s) {
      bool kept = true;
      for_each_row(s, [&](Row row) {
        kept = kept && support.may_stay(
                           row, [&](State to) { return states.contains(to) && !earns(row, to); });
      });
      return !kept;
    });
  }
  return states;
}

}  // namespace redoubt::internal::verified
