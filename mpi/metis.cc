#include <metis.h>

#include <algorithm>
#include <limits>
#include <string>

#include "processes.h"
#include "redoubt/error.h"

namespace redoubt {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<idx_t>::max();

// METIS takes graphs without directions: for each state, those that it leads to and those that
// lead to it, both of which increase.
struct Neighbours {
  std::vector<idx_t> begin = {0}, list;
};

Neighbours neighbours_of(const StateGraph& graph) {
  std::vector<std::int64_t> from_begin(graph.states() + 1);
  for (const State to : graph.next) ++from_begin[to + 1];
  for (State s = 0; s < graph.states(); ++s) from_begin[s + 1] += from_begin[s];
  std::vector<State> from(graph.next.size());
  auto at = from_begin;
  for (State s = 0; s < graph.states(); ++s) {
    for (auto e = graph.begin[s]; e < graph.begin[s + 1]; ++e) from[at[graph.next[e]]++] = s;
  }
  Neighbours neighbours;
  for (State s = 0; s < graph.states(); ++s) {
    std::set_union(graph.next.begin() + graph.begin[s], graph.next.begin() + graph.begin[s + 1],
                   from.begin() + from_begin[s], from.begin() + from_begin[s + 1],
                   std::back_inserter(neighbours.list));
    if (static_cast<std::int64_t>(neighbours.list.size()) > kMost)
      throw Error("--partition metis of a model whose states have " +
                  std::to_string(2 * graph.next.size()) +
                  " neighbours, must have fewer than 2^31: leave it out");
    neighbours.begin.push_back(static_cast<idx_t>(neighbours.list.size()));
  }
  return neighbours;
}

// The outcomes of each state, in a unit in which their sum is a number of METIS.
std::vector<idx_t> weights_of(const StateGraph& graph) {
  std::int64_t total = 0;
  for (const std::int64_t outcomes : graph.outcomes) total += outcomes + 1;
  const std::int64_t unit = total / (kMost / 4) + 1;
  std::vector<idx_t> weights;
  for (const std::int64_t outcomes : graph.outcomes)
    weights.push_back(static_cast<idx_t>(outcomes / unit + 1));
  return weights;
}

std::vector<std::int32_t> partition(const StateGraph& graph, int ranks) {
  static_assert(sizeof(idx_t) == sizeof(std::int32_t));
  constexpr State kFew = 8;  // states of a rank, with which METIS may leave some without any
  if (graph.states() / ranks < kFew) return {};
  Neighbours neighbours = neighbours_of(graph);
  std::vector<idx_t> weights = weights_of(graph);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;  // what is sent, not the edges that are cut
  options[METIS_OPTION_SEED] = 1;                     // the same graph, the same partition
  idx_t states = graph.states(), constraints = 1, parts = ranks, sent = 0;
  std::vector<idx_t> owner(states);
  const int status = METIS_PartGraphKway(&states, &constraints, neighbours.begin.data(),
                                         neighbours.list.data(), weights.data(), nullptr, nullptr,
                                         &parts, nullptr, nullptr, options, &sent, owner.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK)
    throw Error("METIS fails with status " + std::to_string(status) +
                ": leave out --partition metis");
  return owner;
}

}  // namespace

Partitioner partition_by_metis() { return partition; }

}  // namespace redoubt
