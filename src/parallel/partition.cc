#include "parallel/partition.h"

#include <algorithm>

#include "model/submodel.h"
#include "parallel/collectives.h"

namespace redoubt {
using namespace internal;
namespace {

template <class Value>
void append(std::vector<Value>& to, const std::vector<Value>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The graphs of all blocks as one, on the first rank.
StateGraph whole_graph(Communicator& ranks, const StateGraph& block) {
  StateGraph whole;
  for (auto& part : gather_to<std::int64_t>(ranks, 0, block.outcomes)) append(whole.outcomes, part);
  for (auto& part : gather_to<State>(ranks, 0, block.next)) append(whole.next, part);
  for (auto& part : gather_to<std::int64_t>(ranks, 0, block.begin)) {
    const std::int64_t before = whole.begin.back();
    for (std::size_t s = 1; s < part.size(); ++s) whole.begin.push_back(before + part[s]);
  }
  return whole;
}

}  // namespace

StateGraph internal::graph_of(const ModelArrays& arrays, const RowRange& rows) {
  StateGraph graph;
  std::vector<State> next;
  for (State s = rows.begin; s < rows.end; ++s) {
    next.clear();
    for (std::int64_t h = 0; h < arrays.stages; ++h) {
      const auto slot = h * rows.states + s - rows.first;
      next.insert(next.end(), arrays.next.begin() + arrays.row_outcomes[arrays.state_rows[slot]],
                  arrays.next.begin() + arrays.row_outcomes[arrays.state_rows[slot + 1]]);
    }
    graph.outcomes.push_back(static_cast<std::int64_t>(next.size()));
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    std::erase(next, s);
    append(graph.next, next);
    graph.begin.push_back(static_cast<std::int64_t>(graph.next.size()));
  }
  return graph;
}

std::int64_t internal::states_needed(const StateGraph& graph, const Partition& partition) {
  std::int64_t needed = 0;
  std::vector<int> last(graph.states(), -1);  // rank that was seen to need the state
  for (int r = 0; r < partition.ranks(); ++r) {
    const std::vector<State> own = partition.states_of(r);
    for (const State s : own) last[s] = r;
    for (const State s : own) {
      for (auto e = graph.begin[s]; e < graph.begin[s + 1]; ++e) {
        int& seen = last[graph.next[e]];
        needed += seen != r;
        seen = r;
      }
    }
  }
  return needed;
}

Partition internal::make_partition(Communicator& ranks, std::vector<State> blocks,
                                   const StateGraph& block, const PartitionOptions& options) {
  Partition partition(std::move(blocks));
  if (!options.partition || ranks.size() == 1) return partition;
  const StateGraph graph = whole_graph(ranks, block);
  std::vector<NeededStates> needed(1);
  all_or_none(ranks, [&] {
    if (ranks.rank() > 0) return;
    needed[0].blocks = needed[0].partition = states_needed(graph, partition);
    std::vector<std::int32_t> owner = options.partition(graph, ranks.size());
    if (owner.empty()) return;
    Partition found(partition.blocks, std::move(owner));
    check_partition(found, graph.states());
    needed[0].partition = states_needed(graph, found);
    needed[0].partitioned = 10 * needed[0].partition < 9 * needed[0].blocks;
    if (needed[0].partitioned) partition = std::move(found);
  });
  broadcast(ranks, needed);
  broadcast(ranks, partition.owner);
  if (options.compared) options.compared(needed[0]);
  return partition;
}

Partition make_partition(const Model& whole, Communicator& ranks, const PartitionOptions& options) {
  auto blocks = balanced_blocks(whole, ranks.size());
  StateGraph graph;
  if (options.partition)
    graph = graph_of(whole.arrays(),
                     {0, whole.states(), blocks[ranks.rank()], blocks[ranks.rank() + 1]});
  return make_partition(ranks, std::move(blocks), graph, options);
}

}  // namespace redoubt
